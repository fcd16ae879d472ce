/* manifest_reader FILE: the host's own reader of manifests, for test_manifest_check.py. Exit status
 * 0 when it takes the file; else 1 and the reason. */
#include <stdio.h>

#include "core/manifest.h"

int main(int argc, char **argv)
{
    static Manifest manifest;
    char why[512] = "";
    if (argc != 2)
        return 2;
    bool good = manifest_read(argv[1], &manifest, why, sizeof why);
    puts(why);
    return good ? 0 : 1;
}
