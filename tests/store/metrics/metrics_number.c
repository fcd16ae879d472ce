/* metrics_number ROOT SQL: prints one number of a metrics database that nobody owns. */
#include <stdio.h>

#include "metrics_fixture.h"

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    char sql[4096];
    snprintf(sql, sizeof sql, "SELECT CAST((%s) AS DOUBLE)", argv[2]);
    printf("%.17g\n", fixture_real(argv[1], sql));
    return 0;
}
