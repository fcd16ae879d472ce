/* A process that ends leaves no lock behind in the children that it forked, whenever that was: what
 * it locked in a data root is the next one's, although a child lives on with copies of its files.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/fault.h"
#include "metrics_fixture.h"
#include "store/artifacts/artifact_store.h"
#include "store/file_lock.h"
#include "store/metrics/run_ids.h"
#include "store/metrics/session.h"
#include "store/owner_lock.h"

static char *const root = fixture_folder;

enum { CHILDREN = 24, FORK_EVERY_US = 4000 };

static char session[SESSION_NAME_BYTES];

/* ---- Taking locks for ever ---- */

static void *reserve_ids(void *user)
{
    RunIdBlock block;
    for (;;)
        run_ids_reserve(root, 1, 1, &block);
    return user;
}

static void *put_artifacts(void *user)
{
    char digest[ARTIFACT_STORE_DIGEST_BYTES];
    ArtifactStore *store = artifact_store_open(root);
    for (unsigned i = 0;; i++)
        artifact_store_put(store, "n", &i, sizeof i, 0, digest);
    return user;
}

static void *announce_sessions(void *user)
{
    char name[SESSION_NAME_BYTES];
    for (;;) {
        session_make_name(name);
        int fd = session_announce(fixture_path(root, "spool"), name);
        if (fd >= 0)
            session_withdraw(fixture_path(root, "spool"), name, fd);
    }
    return user;
}

/* Locks, forks children that live until `gate` is closed at its other end, and ends. */
__attribute__((noreturn)) static void forking_main(int gate)
{
    OwnerLock *lock = NULL;
    pthread_t thread;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (owner_lock_take(root, &lock, NULL) != OWNER_STATE_HELD ||
        session_announce(fixture_path(root, "spool"), session) < 0)
        _exit(1);
    void *(*const work[])(void *) = {reserve_ids, put_artifacts, announce_sessions};
    for (int i = 0; i < 3; i++)
        if (pthread_create(&thread, NULL, work[i], NULL) != 0)
            _exit(1);
    for (int i = 0; i < CHILDREN; i++) {
        usleep(FORK_EVERY_US);
        pid_t child = fork();
        if (child == 0) {
            char byte;
            _exit(read(gate, &byte, 1) == 0 ? 0 : 1);
        }
        if (child < 0)
            _exit(1);
    }
    _exit(0);
}

typedef struct Temporaries {
    int all, live;
} Temporaries;

static void count_live(void *user, const ArtifactFinding *finding)
{
    Temporaries *count = user;
    count->all += finding->kind == ARTIFACT_FINDING_TEMPORARY;
}

static void test_children_keep_no_lock(void **state)
{
    (void)state;
    int gate[2];
    int status = 0;
    assert_int_equal(pipe(gate), 0);
    session_make_name(session);
    pid_t forking = fork();
    if (forking == 0) {
        close(gate[1]);
        forking_main(gate[0]);
    }
    close(gate[0]);
    assert_int_equal(waitpid(forking, &status, 0), forking);
    assert_int_equal(status, 0);
    /* A child closes its copies when it begins to run: the last one was forked just now. */
    for (int i = 0; i < 5000 && session_is_alive(fixture_path(root, "spool"), session); i++)
        usleep(1000);
    assert_false(session_is_alive(fixture_path(root, "spool"), session));
    OwnerLock *lock = NULL;
    assert_int_equal(owner_lock_take(root, &lock, NULL), OWNER_STATE_HELD);
    owner_lock_release(&lock);
    RunIdBlock block;
    assert_true(run_ids_reserve(root, 1, 1, &block));
    char digest[ARTIFACT_STORE_DIGEST_BYTES];
    ArtifactStore *store = artifact_store_open(root);
    assert_true(artifact_store_put(store, "n", "x", 1, 0, digest));
    /* What it was putting is a dead one's. */
    Temporaries count = {0};
    ArtifactSummary summary;
    assert_true(artifact_store_gc(
        store, false, &(ArtifactWork){.finding = count_live, .user = &count}, &summary));
    assert_int_equal(summary.live, 0);
    artifact_store_close(&store);
    close(gate[1]);
}

/* The child's own calls on what it has no more do no harm to files that it opens. */
static void test_a_child_closes_nothing_of_its_own(void **state)
{
    (void)state;
    int fd = file_lock_open(fixture_path(root, "lock"), O_RDWR | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(file_lock_try(fd, "test"), FILE_LOCK_HELD);
    pid_t child = fork();
    if (child == 0) {
        int own = dup(0);
        file_lock_close(fd);
        _exit(own == fd && fcntl(own, F_GETFD) >= 0 ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    int second = file_lock_open(fixture_path(root, "lock"), O_RDWR, 0600);
    assert_int_equal(file_lock_try(second, "test"), FILE_LOCK_OTHER);
    file_lock_close(second);
    file_lock_close(fd);
    file_lock_close(-1);
    fault_set_plan("store.lock.alloc:1+");
    for (int i = 0; i < 100; i++) {
        fd = file_lock_open(fixture_path(root, "lock"), O_RDWR, 0600);
        if (fd < 0)
            break;
    }
    assert_true(fd < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_children_keep_no_lock, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_a_child_closes_nothing_of_its_own, fixture_set_up,
                                        fixture_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
