# jobs: the table, the threads, the service
caliper_test(jobs_test SOURCES jobs_test.c LIBS libcaliper LABELS unit threads)
caliper_test(jobs_say_test SOURCES jobs_say_test.c LIBS libcaliper LABELS unit threads)
