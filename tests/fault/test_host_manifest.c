/* Applets with manifests: where they are found, what is settled before a library is opened, and the
 * one line and the card's text of each refusal. Manifests are written here by hand; the library is
 * the applet that could lie and does not (org.caliper.test.lying 1.0.0, no services). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/applet_place.h"
#include "core/fault.h"
#include "core/loader.h"
#include "fault_fixture.h"

#define ID "org.caliper.test.lying"

static char root[64];
static char first_dir[96], second_dir[96], data_dir[96], builtin_dir[96];
static uint32_t complaints_before, unavailable_before;

static const char *at(const char *folder, const char *name)
{
    static char paths[8][256];
    static unsigned next;
    char *path = paths[next++ % 8];
    int length = snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return length > 0 && (size_t)length < sizeof paths[0] ? path : NULL;
}

static int begin(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/caliper-manifests-XXXXXX");
    if (mkdtemp(root) == NULL)
        return -1;
    snprintf(first_dir, sizeof first_dir, "%s/first", root);
    snprintf(second_dir, sizeof second_dir, "%s/second", root);
    snprintf(data_dir, sizeof data_dir, "%s/data", root);
    snprintf(builtin_dir, sizeof builtin_dir, "%s/builtin", root);
    mkdir(first_dir, 0700);
    mkdir(second_dir, 0700);
    mkdir(builtin_dir, 0700);
    unsetenv("TEST_LIE");
    return 0;
}

static int end(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

/* A host that offers caliper.log.v1, and what it said from here on. */
static Host *make_host(void)
{
    const char *dirs[] = {first_dir, second_dir, NULL};
    HostParams params = {.struct_size = sizeof params,
                         .data_dir = data_dir,
                         .applet_dirs = dirs,
                         .builtin_applet_dir = builtin_dir};
    static int table;
    Host *host = host_create(&params);
    assert_non_null(host);
    assert_true(host_service_register(host, "caliper.log.v1", &table));
    complaints_before = fixture_complaints();
    unavailable_before = fixture_logged(LOG_APPLET_UNAVAILABLE);
    return host;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void write_manifest(const char *path, const char *id, const char *version, const char *rest)
{
    char text[2048];
    snprintf(text, sizeof text, "[applet]\nid = \"%s\"\nname = \"%s\"\nversion = \"%s\"\n%s", id,
             strrchr(path, '/') + 1, version, rest);
    write_text(path, text);
}

static void write_library(const char *path)
{
    char command[1024];
    snprintf(command, sizeof command, "cp %s %s", fixture_applet("lying.so"), path);
    assert_int_equal(system(command), 0);
}

static void make_folders(const char *path)
{
    char command[512];
    snprintf(command, sizeof command, "mkdir -p %s", path);
    assert_int_equal(system(command), 0);
}

#define COMPAT "[compat]\nabi_epoch = 2\n"

static AppletView view_of(const Host *host, uint32_t index)
{
    AppletView view;
    assert_true(host_applet(host, index, &view));
    return view;
}

static uint32_t complaints(void)
{
    return fixture_complaints() - complaints_before;
}

static uint32_t unavailable(void)
{
    return fixture_logged(LOG_APPLET_UNAVAILABLE) - unavailable_before;
}

static void test_a_card_opens_nothing(void **state)
{
    (void)state;
    write_library(at(first_dir, "viewer.so"));
    write_text(at(first_dir, "viewer.caliper.toml"),
               "[applet]\nid='" ID "'\nname='Viewer'\nversion='1.0.0'\nsummary='Looks.'\n"
               "tag='tools'\n" COMPAT);
    /* Nothing that could be opened, and a card all the same. */
    write_text(at(first_dir, "text.so"), "#!/bin/sh\n");
    write_manifest(at(first_dir, "text.caliper.toml"), "org.test.text", "1.0.0", COMPAT);
    Host *host = make_host();
    host_scan(host);
    assert_int_equal(host_applet_count(host), 2);
    assert_int_equal(complaints(), 0);
    AppletView view = view_of(host, (uint32_t)host_find(host, ID));
    assert_int_equal(view.state, APPLET_STATE_READY);
    assert_string_equal(view.name, "Viewer");
    assert_string_equal(view.version, "1.0.0");
    assert_string_equal(view.summary, "Looks.");
    assert_string_equal(view.tag, "tools");
    assert_string_equal(view.reason, "");
    assert_string_equal(view.path, at(first_dir, "viewer.so"));
    assert_string_equal(view.manifest, at(first_dir, "viewer.caliper.toml"));
    assert_false(loader_is_open(view.path));
    assert_true(host_open(host, (uint32_t)host_find(host, ID)));
    assert_true(loader_is_open(view.path));
    /* The manifest's words stay on the card; the descriptor has others. */
    assert_string_equal(view_of(host, (uint32_t)host_find(host, ID)).name, "Viewer");
    uint32_t text = (uint32_t)host_find(host, "org.test.text");
    assert_int_equal(view_of(host, text).state, APPLET_STATE_READY);
    assert_false(host_open(host, text));
    assert_int_equal(view_of(host, text).state, APPLET_STATE_FAILED);
    assert_string_equal(view_of(host, text).reason, "it is not an ELF library");
    assert_int_equal(complaints(), 1);
    host_destroy(&host);
}

/* Everything is wrong at first, and is mended in the order in which it must be named. */
static void test_first_failure_wins(void **state)
{
    (void)state;
    char too_new[160], reason[512];
    const char *manifest = at(first_dir, "viewer.caliper.toml");
    snprintf(too_new, sizeof too_new, "min_host = \"%d.%d.%d\"\n", CALIPER_VERSION_MAJOR,
             CALIPER_VERSION_MINOR, CALIPER_VERSION_PATCH + 1);
    static const char services[] = "[services]\nrequired = [\"caliper.log.v1\", \"z.missing\", "
                                   "\"a.missing\"]\noptional = [\"o.missing\"]\n";
    char rest[512];
    Host *host = make_host();
    snprintf(rest, sizeof rest, "[compat]\nabi_epoch = 3\n%s%s", too_new, services);
    write_manifest(manifest, ID, "1.0.0", rest);
    host_scan(host);
    assert_int_equal(host_applet_count(host), 1);
    snprintf(reason, sizeof reason, "it has no library for " PLACE_PLATFORM ": %s is not there",
             at(first_dir, "viewer.so"));
    assert_int_equal(view_of(host, 0).state, APPLET_STATE_UNAVAILABLE);
    assert_string_equal(view_of(host, 0).reason, reason);
    assert_int_equal(complaints(), 1);
    assert_int_equal(unavailable(), 1);
    assert_non_null(strstr(fixture_text(LOG_APPLET_UNAVAILABLE), reason));
    assert_false(host_open(host, 0)); /* refused with a line of its own */
    assert_int_equal(complaints(), 2);

    write_library(at(first_dir, "viewer.so"));
    assert_false(host_reload(host, 0));
    assert_int_equal(view_of(host, 0).state, APPLET_STATE_UNAVAILABLE);
    assert_string_equal(view_of(host, 0).reason, "built for ABI epoch 3, this host has epoch 2");
    assert_int_equal(complaints(), 3);

    snprintf(rest, sizeof rest, COMPAT "%s%s", too_new, services);
    write_manifest(manifest, ID, "1.0.0", rest);
    assert_false(host_reload(host, 0));
    snprintf(reason, sizeof reason, "it needs Caliper %d.%d.%d or later, this is %d.%d.%d",
             CALIPER_VERSION_MAJOR, CALIPER_VERSION_MINOR, CALIPER_VERSION_PATCH + 1,
             CALIPER_VERSION_MAJOR, CALIPER_VERSION_MINOR, CALIPER_VERSION_PATCH);
    assert_string_equal(view_of(host, 0).reason, reason);

    snprintf(rest, sizeof rest, COMPAT "%s", services);
    write_manifest(manifest, ID, "1.0.0", rest);
    assert_false(host_reload(host, 0));
    assert_string_equal(view_of(host, 0).reason,
                        "it needs the service z.missing, which this host does not offer");
    assert_true(host_service_register(host, "z.missing", root));
    assert_false(host_reload(host, 0));
    assert_string_equal(view_of(host, 0).reason,
                        "it needs the service a.missing, which this host does not offer");
    assert_false(loader_is_open(at(first_dir, "viewer.so")));
    assert_int_equal(complaints(), 6);
    assert_int_equal(unavailable(), 5);
    assert_true(host_service_register(host, "a.missing", root));
    assert_true(host_reload(host, 0)); /* o.missing never refuses */
    assert_string_equal(view_of(host, 0).reason, "");
    assert_true(host_open(host, 0));
    assert_int_equal(complaints(), 6);
    host_destroy(&host);
}

static void test_host_versions_are_numbers(void **state)
{
    (void)state;
    enum { MA = CALIPER_VERSION_MAJOR, MI = CALIPER_VERSION_MINOR, PA = CALIPER_VERSION_PATCH };
    static const struct {
        int major, minor, patch;
        bool good;
    } cases[] = {
        {0, 0, 0, true},           {MA, MI, PA, true},
        {MA, MI, PA + 1, false},   {MA, MI + 1, 0, false},
        {MA, MI + 9, 0, false},    {MA, MI + 10, 0, false}, /* 0.11 after 0.2 */
        {MA + 1, 0, 0, false},     {MA + 10, 0, 0, false},
        {MA, MI - 1, 99999, true}, {MA + 999999, 0, 0, false},
    };
    write_library(at(first_dir, "viewer.so"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char rest[256];
        if (cases[i].minor < 0)
            continue;
        snprintf(rest, sizeof rest, COMPAT "min_host = \"%d.%d.%d\"\n", cases[i].major,
                 cases[i].minor, cases[i].patch);
        write_manifest(at(first_dir, "viewer.caliper.toml"), ID, "1.0.0", rest);
        Host *host = make_host();
        host_scan(host);
        assert_int_equal(view_of(host, 0).state,
                         cases[i].good ? APPLET_STATE_READY : APPLET_STATE_UNAVAILABLE);
        assert_int_equal(complaints(), cases[i].good ? 0 : 1);
        host_destroy(&host);
    }
}

/* What the library says of itself must be what the manifest says. */
static void test_descriptor_against_manifest(void **state)
{
    (void)state;
    static const struct {
        const char *id, *version, *lie, *reason;
        AppletState state;
    } cases[] = {
        {"org.test.other", "1.0.0", "", "descriptor.id is " ID ", its manifest says org.test.other",
         APPLET_STATE_FAILED},
        {ID, "1.0.1", "", "descriptor.version is 1.0.0, its manifest says 1.0.1",
         APPLET_STATE_FAILED},
        {ID, "1.0.0", "epoch 3", "built for ABI epoch 3, this host has epoch 2",
         APPLET_STATE_FAILED},
        {ID, "1.0.0", "struct_size 8", "descriptor.struct_size is 8, wanted 104",
         APPLET_STATE_FAILED},
        {ID, "1.0.0", "frame NULL", "descriptor.api.frame is NULL", APPLET_STATE_FAILED},
        {ID, "1.0.0", "service missing",
         "it needs the service org.caliper.test.no_such_service, which this host does not offer",
         APPLET_STATE_UNAVAILABLE},
        {ID, "1.0.0", "", "", APPLET_STATE_RUNNING},
    };
    write_library(at(first_dir, "viewer.so"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_manifest(at(first_dir, "viewer.caliper.toml"), cases[i].id, cases[i].version, COMPAT);
        setenv("TEST_LIE", cases[i].lie, 1);
        Host *host = make_host();
        host_scan(host);
        assert_int_equal(view_of(host, 0).state, APPLET_STATE_READY);
        assert_int_equal(complaints(), 0);
        assert_int_equal(host_open(host, 0), cases[i].state == APPLET_STATE_RUNNING);
        assert_int_equal(view_of(host, 0).state, cases[i].state);
        assert_string_equal(view_of(host, 0).reason, cases[i].reason);
        assert_int_equal(complaints(), cases[i].state == APPLET_STATE_RUNNING ? 0 : 1);
        assert_string_equal(view_of(host, 0).id, cases[i].id);
        host_destroy(&host);
    }
    unsetenv("TEST_LIE");
}

static void test_bad_manifests_have_cards(void **state)
{
    (void)state;
    write_text(at(first_dir, "a.caliper.toml"), "[applet]\nid = 4\n");
    write_text(at(first_dir, "b.caliper.toml"), "[applet\n");
    mkdir(at(first_dir, "c.caliperapp"), 0700);
    mkdir(at(first_dir, "d.caliper.toml"), 0700);
    write_library(at(first_dir, "bare.so"));
    write_text(at(first_dir, "e.caliperapp"), "not a folder");
    write_text(at(first_dir, ".caliper.toml"), "");
    write_text(at(first_dir, ".hidden.caliper.toml"), "");
    write_text(at(first_dir, "caliper.toml"), ""); /* has no stem: no bundle */
    Host *host = make_host();
    host_scan(host);
    assert_int_equal(host_applet_count(host), 4);
    static const char *const names[] = {"a.caliper.toml", "b.caliper.toml", "c.caliperapp",
                                        "d.caliper.toml"};
    static const char *const reasons[] = {
        "line 2: applet.id is an integer, wanted text", NULL,
        "the manifest cannot be opened: No such file or directory", "the manifest is not a file"};
    for (uint32_t i = 0; i < 4; i++) {
        AppletView view = view_of(host, i);
        assert_int_equal(view.state, APPLET_STATE_UNAVAILABLE);
        assert_string_equal(view.name, names[i]);
        assert_string_equal(view.id, "");
        if (reasons[i] != NULL)
            assert_string_equal(view.reason, reasons[i]);
    }
    assert_int_equal(complaints(), 4);
    assert_int_equal(unavailable(), 4);
    assert_int_equal(host_find(host, ""), -1);
    host_scan(host); /* again: nothing new */
    assert_int_equal(host_applet_count(host), 4);
    assert_int_equal(complaints(), 4);
    /* Named on the command line the same is refused with one line and no card. */
    Host *other = make_host();
    assert_int_equal(host_add(other, at(first_dir, "a.caliper.toml")), -1);
    assert_int_equal(host_add(other, at(first_dir, "c.caliperapp")), -1);
    assert_int_equal(complaints(), 2);
    assert_int_equal(host_applet_count(other), 0);
    assert_true(host_add(other, at(first_dir, "bare.so")) == 0);
    host_destroy(&other);
    /* Mended: taken as it is now. */
    write_manifest(at(first_dir, "a.caliper.toml"), ID, "1.0.0", COMPAT);
    write_library(at(first_dir, "liba.so"));
    assert_true(host_reload(host, 0));
    assert_string_equal(view_of(host, 0).id, ID);
    assert_string_equal(view_of(host, 0).path, at(first_dir, "liba.so"));
    assert_true(host_open(host, 0));
    host_destroy(&host);
}

static void test_manifest_changed_before_opening(void **state)
{
    (void)state;
    const char *manifest = at(first_dir, "viewer.caliper.toml");
    write_library(at(first_dir, "viewer.so"));
    write_manifest(manifest, ID, "1.0.0", COMPAT);
    Host *host = make_host();
    host_scan(host);
    write_manifest(manifest, ID, "1.0.0", COMPAT "[services]\nrequired = ['x.missing']\n");
    assert_false(host_open(host, 0));
    assert_int_equal(view_of(host, 0).state, APPLET_STATE_UNAVAILABLE);
    assert_string_equal(view_of(host, 0).reason,
                        "it needs the service x.missing, which this host does not offer");
    assert_int_equal(complaints(), 1);
    host_destroy(&host);
}

/* ---- Where applets are ---- */

static void make_bundle(const char *folder, const char *binary, const char *id)
{
    char path[256];
    snprintf(path, sizeof path, "%s/bin/" PLACE_PLATFORM, folder);
    make_folders(path);
    if (binary != NULL)
        write_library(at(path, binary));
    write_manifest(at(folder, "caliper.toml"), id, "1.0.0", COMPAT);
}

static void test_bundles(void **state)
{
    (void)state;
    static const struct {
        const char *folder, *binary, *id;
        bool found;
    } bundles[] = {
        {"a.caliperapp", "a.so", "org.test.a", true},
        {"b.caliperapp", "libb.so", "org.test.b", true},
        {"c.caliperapp", "another name.so", "org.test.c", true}, /* it is alone */
        {"d.caliperapp", "notes.txt", "org.test.d", false},
        {"e.caliperapp", NULL, "org.test.e", false},
        {"viewer.caliperapp", "viewer.so", ID, true},
    };
    for (size_t i = 0; i < sizeof bundles / sizeof bundles[0]; i++) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, "'%s'", bundles[i].binary);
        make_bundle(at(first_dir, bundles[i].folder), bundles[i].binary != NULL ? quoted : NULL,
                    bundles[i].id);
    }
    /* Binaries for others than this machine, and two strangers of which none is meant. */
    make_folders(at(first_dir, "e.caliperapp/bin/plan9-mips"));
    write_text(at(first_dir, "e.caliperapp/bin/plan9-mips/e.so"), "");
    make_bundle(at(first_dir, "f.caliperapp"), "one.so", "org.test.f");
    write_text(at(first_dir, "f.caliperapp/bin/" PLACE_PLATFORM "/two.so"), "");
    Host *host = make_host();
    host_scan(host);
    assert_int_equal(host_applet_count(host), 7);
    for (size_t i = 0; i < sizeof bundles / sizeof bundles[0]; i++) {
        int32_t index = host_find(host, bundles[i].id);
        assert_true(index >= 0);
        assert_int_equal(view_of(host, (uint32_t)index).state,
                         bundles[i].found ? APPLET_STATE_READY : APPLET_STATE_UNAVAILABLE);
    }
    assert_int_equal(view_of(host, (uint32_t)host_find(host, "org.test.f")).state,
                     APPLET_STATE_UNAVAILABLE);
    assert_non_null(strstr(view_of(host, (uint32_t)host_find(host, "org.test.e")).reason,
                           "no library for " PLACE_PLATFORM));
    assert_true(host_open(host, (uint32_t)host_find(host, ID)));
    host_destroy(&host);
}

/* The order of search, one level deep; of two with one id the first found wins. */
static void test_discovery_and_duplicates(void **state)
{
    (void)state;
    char own_dir[128];
    snprintf(own_dir, sizeof own_dir, "%s/applets", data_dir);
    make_folders(own_dir);
    const char *const folders[] = {first_dir, second_dir, own_dir, builtin_dir};
    for (size_t i = 0; i < 4; i++) {
        char own[64];
        write_library(at(folders[i], "viewer.so"));
        write_manifest(at(folders[i], "viewer.caliper.toml"), ID, "1.0.0", COMPAT);
        snprintf(own, sizeof own, "org.test.place%zu", i);
        write_library(at(folders[i], "own.so"));
        write_manifest(at(folders[i], "own.caliper.toml"), own, "1.0.0", COMPAT);
    }
    make_folders(at(first_dir, "deeper"));
    write_library(at(first_dir, "deeper/deep.so"));
    write_manifest(at(first_dir, "deeper/deep.caliper.toml"), "org.test.deep", "1.0.0", COMPAT);
    Host *host = make_host();
    host_scan(host);
    assert_int_equal(host_applet_count(host), 8);
    assert_int_equal(host_find(host, "org.test.deep"), -1);
    assert_int_equal(complaints(), 3);
    assert_int_equal(unavailable(), 3);
    char reason[512];
    snprintf(reason, sizeof reason, "another applet with the id " ID " was found first: %s",
             at(first_dir, "viewer.caliper.toml"));
    for (uint32_t i = 0; i < 4; i++) {
        char own[64];
        snprintf(own, sizeof own, "org.test.place%u", i);
        assert_int_equal(host_find(host, own), 2 * i);
        assert_string_equal(view_of(host, 2 * i).manifest, at(folders[i], "own.caliper.toml"));
        AppletView view = view_of(host, 2 * i + 1);
        assert_string_equal(view.manifest, at(folders[i], "viewer.caliper.toml"));
        assert_int_equal(view.state, i == 0 ? APPLET_STATE_READY : APPLET_STATE_UNAVAILABLE);
        assert_string_equal(view.reason, i == 0 ? "" : reason);
    }
    assert_int_equal(host_find(host, ID), 1);
    /* The later one stays out, whatever becomes of the first. */
    assert_false(host_reload(host, 3));
    assert_string_equal(view_of(host, 3).reason, reason);
    assert_true(host_open(host, 1));
    host_destroy(&host);
}

static void test_named_by_path(void **state)
{
    (void)state;
    make_bundle(at(second_dir, "b.caliperapp"), "b.so", "org.test.bundle");
    write_library(at(second_dir, "libviewer.so"));
    write_manifest(at(second_dir, "viewer.caliper.toml"), ID, "1.0.0",
                   COMPAT "[services]\nrequired = ['x.missing']\n");
    write_library(at(first_dir, "bare.so"));
    Host *host = make_host();
    int32_t bundle = host_add(host, at(second_dir, "b.caliperapp/"));
    assert_int_equal(bundle, 0);
    assert_int_equal(host_add(host, at(second_dir, "b.caliperapp/caliper.toml")), bundle);
    /* A library that has a manifest is taken with it, by whatever name. */
    int32_t viewer = host_add(host, at(second_dir, "libviewer.so"));
    assert_int_equal(viewer, 1);
    assert_int_equal(view_of(host, 1).state, APPLET_STATE_UNAVAILABLE);
    assert_int_equal(complaints(), 1);
    assert_int_equal(host_add(host, at(second_dir, "viewer.caliper.toml")), viewer);
    assert_int_equal(complaints(), 1);
    host_scan(host);
    assert_int_equal(host_applet_count(host), 2);
    host_destroy(&host);
    host = make_host();
    assert_int_equal(host_add(host, at(first_dir, "bare.so")), 0);
    assert_string_equal(view_of(host, 0).manifest, "");
    assert_int_equal(view_of(host, 0).state, APPLET_STATE_READY);
    assert_true(host_open(host, 0));
    assert_int_equal(host_add(host, at(first_dir, "none.caliper.toml")), -1);
    assert_int_equal(host_add(host, at(first_dir, "none.caliperapp")), -1);
    assert_int_equal(complaints(), 2);
    host_destroy(&host);
}

/* Each call that can fail does so once: the applet is not there or says why, and nothing is lost of
 * the next look. */
static void test_each_call_fails_in_turn(void **state)
{
    (void)state;
    static const char *const sites[] = {"applets.alloc", "paths.alloc", "manifest.alloc",
                                        "manifest.read", "loader.open", "loader.copy"};
    write_library(at(first_dir, "viewer.so"));
    write_manifest(at(first_dir, "viewer.caliper.toml"), ID, "1.0.0", COMPAT);
    make_bundle(at(second_dir, "b.caliperapp"), "b.so", "org.test.bundle");
    for (size_t i = 0; i < sizeof sites / sizeof sites[0]; i++) {
        uint32_t failed = 0;
        for (int call = 1; call <= 40; call++) {
            char plan[64];
            Host *host = make_host();
            snprintf(plan, sizeof plan, "%s:%d", sites[i], call);
            assert_true(fault_set_plan(plan));
            host_scan(host);
            int32_t index = host_find(host, ID);
            if (index >= 0 && host_open(host, (uint32_t)index)) {
                host_close(host, (uint32_t)index);
                host_end_frame(host);
            }
            bool last = fault_injected() == 0;
            fault_set_plan(NULL);
            failed += last ? 0 : 1;
            assert_true(last || complaints() >= 1);
            host_scan(host);
            for (uint32_t n = 0; n < host_applet_count(host); n++) {
                if (strstr(view_of(host, n).manifest, "viewer") != NULL &&
                    view_of(host, n).state != APPLET_STATE_READY)
                    assert_true(host_reload(host, n));
            }
            assert_int_equal(host_applet_count(host), 2);
            assert_true(host_open(host, (uint32_t)host_find(host, ID)));
            host_destroy(&host);
            if (last)
                break;
        }
        assert_true(failed > 0 || strcmp(sites[i], "loader.copy") == 0);
    }
}

int main(void)
{
    log_stderr_enable(getenv("TEST_VERBOSE") != NULL);
    fixture_watch_log();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_card_opens_nothing, begin, end),
        cmocka_unit_test_setup_teardown(test_first_failure_wins, begin, end),
        cmocka_unit_test_setup_teardown(test_host_versions_are_numbers, begin, end),
        cmocka_unit_test_setup_teardown(test_descriptor_against_manifest, begin, end),
        cmocka_unit_test_setup_teardown(test_bad_manifests_have_cards, begin, end),
        cmocka_unit_test_setup_teardown(test_manifest_changed_before_opening, begin, end),
        cmocka_unit_test_setup_teardown(test_bundles, begin, end),
        cmocka_unit_test_setup_teardown(test_discovery_and_duplicates, begin, end),
        cmocka_unit_test_setup_teardown(test_named_by_path, begin, end),
        cmocka_unit_test_setup_teardown(test_each_call_fails_in_turn, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
