/* Artifact puts against the machine's SHA-256 rate and against what the disk takes, in one run.
 *
 *   bench_artifacts [FOLDER]     FOLDER: on the file system to measure; /dev/shm, where there is no
 *                                disk to wait for, and /tmp without one
 *
 * Each put has new contents. "sha" is libcrypto's EVP over the same bytes on one core; "write" is a
 * plain write and flush of them. One thread but for the put's own. */
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/log.h"
#include "store/artifacts/artifact_store.h"

enum { ROUNDS = 9, SIZES = 5 };
static const size_t sizes[SIZES] = {4 << 10, 64 << 10, 1 << 20, 16 << 20, 256 << 20};

static double now_sec(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof *values, compare);
    return values[ROUNDS / 2];
}

static double hash_once(const uint8_t *bytes, size_t size)
{
    uint8_t digest[32];
    unsigned int length = 0;
    double begun = now_sec();
    if (EVP_Digest(bytes, size, digest, &length, EVP_sha256(), NULL) != 1)
        exit(1);
    return now_sec() - begun;
}

static double write_once(const char *folder, const uint8_t *bytes, size_t size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/plain", folder);
    double begun = now_sec();
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (size_t done = 0; fd >= 0 && done < size;) {
        ssize_t some = write(fd, bytes + done, size - done);
        if (some <= 0)
            exit(1);
        done += (size_t)some;
    }
    if (fd < 0 || fsync(fd) != 0)
        exit(1);
    close(fd);
    double took = now_sec() - begun;
    unlink(path);
    return took;
}

static double put_once(ArtifactStore *store, const uint8_t *bytes, size_t size)
{
    char digest[ARTIFACT_STORE_DIGEST_BYTES];
    double begun = now_sec();
    if (!artifact_store_put(store, "bench", bytes, size, 0, digest))
        exit(1);
    return now_sec() - begun;
}

static double asked_once(ArtifactStore *store)
{
    enum { ASKS = 1000 };
    char path[ARTIFACT_STORE_PATH_BYTES];
    double begun = now_sec();
    for (int i = 0; i < ASKS; i++) {
        if (!artifact_store_find(store, "bench", path))
            exit(1);
    }
    return (now_sec() - begun) / ASKS;
}

static void measure(const char *root, uint8_t *bytes, size_t size, uint64_t *serial)
{
    double hashed[ROUNDS], written[ROUNDS], put[ROUNDS], again[ROUNDS], asked[ROUNDS];
    ArtifactStore *store = artifact_store_open(root);
    if (store == NULL)
        exit(1);
    for (int i = 0; i < ROUNDS; i++) {
        ++*serial;
        memcpy(bytes, serial, sizeof *serial);
        hashed[i] = hash_once(bytes, size);
        written[i] = write_once(root, bytes, size);
        put[i] = put_once(store, bytes, size);
        again[i] = put_once(store, bytes, size);
        asked[i] = asked_once(store);
    }
    double sha = median(hashed), plain = median(written), took = median(put);
    double slower = sha > plain ? sha : plain;
    double mb = (double)size * 1e-6;
    printf("%8zu KiB  %8.0f  %8.0f  %8.0f   %5.2f   %5.2f   %10.1f  %10.1f  %6.1f\n", size >> 10,
           mb / sha, mb / plain, mb / took, sha / took, slower / took, took * 1e6,
           median(again) * 1e6, median(asked) * 1e6);
    artifact_store_close(&store);
}

int main(int argc, char **argv)
{
    char root[256], command[300];
    const char *folder = argc > 1 ? argv[1] : access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(root, sizeof root, "%.200s/caliper-bench-XXXXXX", folder);
    uint8_t *bytes = malloc(sizes[SIZES - 1]);
    if (bytes == NULL || mkdtemp(root) == NULL)
        return 1;
    uint64_t state = 1, serial = 0;
    for (size_t i = 0; i < sizes[SIZES - 1]; i += 8) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        memcpy(bytes + i, &state, 8);
    }
    printf("Artifact puts in %s, median of %d. Rates in MB/s; /sha: put over SHA-256 (aim 0.8); "
           "/floor:"
           " over the\nslower of hashing and writing; times of a put, of the same put again and of"
           " path_of in microseconds.\n%12s  %8s  %8s  %8s   %5s   %5s   %10s  %10s  %6s\n",
           folder, ROUNDS, "size", "sha", "write", "put", "/sha", "/floor", "put us", "again us",
           "ask us");
    for (int i = 0; i < SIZES; i++) {
        measure(root, bytes, sizes[i], &serial);
        snprintf(command, sizeof command, "rm -rf %s/artifacts", root);
        if (system(command) != 0)
            return 1;
    }
    free(bytes);
    return rmdir(root) == 0 ? 0 : 1;
}
