# jobs: the table, the threads, the service
caliper_test(jobs_test SOURCES jobs_test.c LIBS libcaliper LABELS unit threads)
