/* Which data sets there are and where they lie; see datasets.h. */
#include "datasets/datasets.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first site of all, of 1998, has not answered for long. */
static const char *const mnist_mirrors[] = {
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
    NULL,
};

/* Checksums: those that torchvision has published for these files since its version 0.5 and goes by
 * itself. MD5 is enough for what it is for here, a broken transfer; who sent it, TLS says. */
static const DatasetFile mnist_files[] = {
    {"train-images-idx3-ubyte.gz", 9912422, "f68b3c2dcbeaaa9fbdd348bbdeb94873"},
    {"train-labels-idx1-ubyte.gz", 28881, "d53e105ee54ea40749a09fcbcd1e9432"},
    {"t10k-images-idx3-ubyte.gz", 1648877, "9fb629c4189551a2d022fa330f9573f3"},
    {"t10k-labels-idx1-ubyte.gz", 4542, "ec29112dd5afa0611ce80d1b7f02629c"},
};

const Dataset datasets_mnist = {"mnist", "MNIST", mnist_mirrors, mnist_files, 4};

const char datasets_fashion_folder[] = "/usr/share/datasets/fashion-mnist";
const char datasets_fashion_package[] = "dataset-fashion-mnist";

static bool fits(int length)
{
    return length > 0 && length < DATASETS_PATH_BYTES;
}

bool datasets_folder(const char *data_root, const char *name, char out[DATASETS_PATH_BYTES])
{
    return fits(snprintf(out, DATASETS_PATH_BYTES, "%s/datasets/%s", data_root, name));
}

static bool is_readable_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
           access(path, R_OK) == 0;
}

bool datasets_find_file(const char *folder, const DatasetFile *file, char out[DATASETS_PATH_BYTES])
{
    size_t length = strlen(file->name);
    size_t bare = length > 3 && strcmp(file->name + length - 3, ".gz") == 0 ? length - 3 : length;
    return (fits(snprintf(out, DATASETS_PATH_BYTES, "%s/%.*s", folder, (int)bare, file->name)) &&
            is_readable_file(out)) ||
           (fits(snprintf(out, DATASETS_PATH_BYTES, "%s/%s", folder, file->name)) &&
            is_readable_file(out));
}

bool datasets_found(const Dataset *set, const char *folder)
{
    char path[DATASETS_PATH_BYTES];
    for (int i = 0; i < set->file_count; i++) {
        if (!datasets_find_file(folder, &set->files[i], path))
            return false;
    }
    return true;
}
