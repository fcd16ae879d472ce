/* tensorscope/loader.c: the mailbox and the thread behind it. The public calls are the frame
 * thread's; work_* run on the loader's thread, which alone touches the open file. */
#include "loader.h"

#include "formats/raw_layout.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const int64_t watch_period_ns = 100000000;

typedef struct Order {
    uint64_t ticket; /* 0: none */
    char *address;
    SliceRequest slice;
    uint64_t row, col; /* of an element of that slice's picture */
} Order;

struct Loader {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t asked;
    pthread_cond_t idle;
    /* Under the mutex. */
    Order orders[LOADER_KIND_COUNT];
    LoaderResult *results[LOADER_KIND_COUNT];
    uint64_t working[LOADER_KIND_COUNT]; /* ticket in work */
    uint64_t newest[LOADER_KIND_COUNT];
    uint64_t last_ticket;
    ArrayFile *taken; /* its open was taken; `file` from the next order on */
    bool has_file;    /* one was taken */
    bool stopping;
    LoaderResult *waste; /* to be freed by the thread */
    bool watching;       /* the watched file is being opened */
    /* The watch: what is looked at, NULL for nothing; each change of it has a number, so that what
     * was found for the one before is thrown away. */
    bool watches;
    char *watched;
    uint64_t watch_serial;
    Stamp watch_stamp; /* of what was tried last */
    /* Any time. */
    atomic_bool cancel;
    atomic_uint progress_ppm;
    /* The thread's own. */
    ArrayFile *file;
};

/* ---- The loader's thread ---- */

static bool work_is_cancelled(void *user)
{
    return atomic_load_explicit(&((Loader *)user)->cancel, memory_order_relaxed);
}

static void work_progress(void *user, double done)
{
    atomic_store_explicit(&((Loader *)user)->progress_ppm,
                          (unsigned)(done > 0.0 && done < 1.0 ? done * 1e6
                                     : done >= 1.0            ? 1e6
                                                              : 0.0),
                          memory_order_relaxed);
}

/* The stamp first: a change while the file is opened is then seen as one. */
static void work_open(Loader *loader, const char *address, LoaderResult *result)
{
    const ArrayOpenOptions options = {.cancel = work_is_cancelled, .cancel_user = loader};
    result->stamp = stamp_take(array_raw_path(address));
    ArrayFile *file = array_file_open_address(address, &options, &result->error);
    if (file == NULL) {
        return;
    }
    result->source = source_create(address, file);
    if (result->source == NULL) {
        array_file_close(&file);
        result->error.fault = ARRAY_FAULT_MEMORY;
        strcpy(result->error.message, "there is not enough memory for this file's headers");
        return;
    }
    result->file = file;
    result->done = true;
}

static void work_element(Loader *loader, const Order *order, LoaderResult *result)
{
    const SliceRequest *slice = &order->slice;
    const ArrayInfo *info = array_file_info(loader->file, slice->array);
    uint64_t index[ARRAY_RANK_MAX] = {0};
    uint64_t channels = 1;
    if (info != NULL && slice->axes.colour != ARRAY_AXIS_NONE) {
        channels = info->shape[slice->axes.colour];
    }
    result->done = true;
    for (uint32_t i = 0; i < channels && i < LOADER_ELEMENTS_MAX && result->done; i++) {
        if (info != NULL) {
            axes_element(info->rank, &slice->axes, order->row, order->col, i, index);
        }
        result->done = array_file_read_element(loader->file, slice->array, index,
                                               &result->elements[i], &result->error);
        result->element_count = i + 1;
    }
}

static void work_do(Loader *loader, LoaderKind kind, const Order *order, LoaderResult *result)
{
    ArrayControl control = {work_is_cancelled, work_progress, loader};
    if (kind == LOADER_KIND_OPEN) {
        work_open(loader, order->address, result);
    } else if (loader->file == NULL) {
        result->error.fault = ARRAY_FAULT_OPEN;
        strcpy(result->error.message, "no file is open");
    } else if (kind == LOADER_KIND_ELEMENT) {
        work_element(loader, order, result);
    } else {
        result->data = slice_data_read(loader->file, &order->slice, &control, &result->error);
        result->done = result->data != NULL;
    }
}

static int next_order(const Loader *loader)
{
    for (int kind = 0; kind < LOADER_KIND_COUNT; kind++) {
        if (loader->orders[kind].ticket != 0) {
            return kind;
        }
    }
    return -1;
}

/* Puts a result into its place, unless a newer request came meanwhile. With the mutex held. */
static LoaderResult *deliver(Loader *loader, LoaderKind kind, LoaderResult *result)
{
    LoaderResult *unwanted = result;
    if (result->ticket == loader->newest[kind] && !loader->stopping) {
        unwanted = loader->results[kind];
        loader->results[kind] = result;
    }
    return unwanted;
}

static void free_result(LoaderResult *result)
{
    if (result != NULL) {
        free(result->address);
        array_file_close(&result->file);
        source_destroy(&result->source);
        slice_data_destroy(&result->data);
        free(result);
    }
}

/* Any thread, with the mutex held; NULL is nothing. */
static void waste(Loader *loader, LoaderResult *result)
{
    if (result != NULL) {
        result->next_waste = loader->waste;
        loader->waste = result;
        pthread_cond_signal(&loader->asked);
    }
}

/* Called and left with the mutex held; true: there was something. */
static bool free_waste(Loader *loader)
{
    LoaderResult *next = loader->waste;
    if (next == NULL) {
        return false;
    }
    loader->waste = NULL;
    pthread_mutex_unlock(&loader->mutex);
    while (next != NULL) {
        LoaderResult *result = next;
        next = result->next_waste;
        free_result(result);
    }
    pthread_mutex_lock(&loader->mutex);
    return true;
}

/* The file that was read up to now, to be closed, where another one was taken. With the mutex held.
 */
static ArrayFile *change_file(Loader *loader)
{
    ArrayFile *old = NULL;
    if (loader->taken != NULL) {
        old = loader->file;
        loader->file = loader->taken;
        loader->taken = NULL;
    }
    return old;
}

/* Waits for an order, at most until the watched file is to be looked at again; false: then. With
 * the mutex held. */
static bool wait_for_order(Loader *loader)
{
    struct timespec until;
    if (!loader->watches || loader->watched == NULL) {
        pthread_cond_wait(&loader->asked, &loader->mutex);
        return true;
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += watch_period_ns;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    return pthread_cond_timedwait(&loader->asked, &loader->mutex, &until) == 0;
}

/* Puts what became of the watched file where the frame thread finds it, unless another file was
 * asked for meanwhile; answers what is unwanted. With the mutex held. */
static LoaderResult *deliver_refresh(Loader *loader, LoaderResult *result, uint64_t serial)
{
    LoaderResult *unwanted = result;
    if (serial == loader->watch_serial && loader->watches && !loader->stopping) {
        loader->watch_stamp = result->stamp;
        unwanted = loader->results[LOADER_KIND_REFRESH];
        loader->results[LOADER_KIND_REFRESH] = result;
    }
    return unwanted;
}

/* Looks at the watched file and opens it anew when it changed. Called and left with the mutex held,
 * which is free while the file system is asked. */
static void work_watch(Loader *loader)
{
    uint64_t serial = loader->watch_serial;
    Stamp before = loader->watch_stamp;
    char *address = loader->watched != NULL ? strdup(loader->watched) : NULL;
    LoaderResult *result = NULL;
    if (address == NULL) {
        return;
    }
    atomic_store(&loader->cancel, false); /* what was asked for before is answered */
    loader->watching = true;
    pthread_mutex_unlock(&loader->mutex);
    Stamp now = stamp_take(array_raw_path(address));
    if (before.fresh || !stamp_same(&before, &now)) {
        result = calloc(1, sizeof(*result));
    }
    if (result != NULL) {
        result->kind = LOADER_KIND_REFRESH;
        result->second_look = stamp_same(&before, &now);
        work_open(loader, address, result);
    }
    free(address);
    pthread_mutex_lock(&loader->mutex);
    loader->watching = false;
    if (result != NULL) {
        waste(loader, deliver_refresh(loader, result, serial));
    }
}

/* Takes an order up to its answer. Called and left with the mutex held, which is free meanwhile. */
static void work_order(Loader *loader, LoaderKind kind)
{
    Order order = loader->orders[kind];
    memset(&loader->orders[kind], 0, sizeof(loader->orders[kind]));
    loader->working[kind] = order.ticket;
    atomic_store(&loader->cancel, false);
    atomic_store(&loader->progress_ppm, 0);
    ArrayFile *old = change_file(loader);
    pthread_mutex_unlock(&loader->mutex);
    array_file_close(&old);

    LoaderResult *result = calloc(1, sizeof(*result));
    if (result != NULL) {
        result->kind = kind;
        result->ticket = order.ticket;
        work_do(loader, kind, &order, result);
    }
    if (result != NULL && kind == LOADER_KIND_OPEN) {
        result->address = order.address;
    } else {
        free(order.address);
    }

    pthread_mutex_lock(&loader->mutex);
    loader->working[kind] = 0;
    waste(loader, result != NULL ? deliver(loader, kind, result) : NULL);
}

static void *work(void *user)
{
    Loader *loader = user;
    pthread_mutex_lock(&loader->mutex);
    while (!loader->stopping) {
        if (free_waste(loader)) {
            continue;
        }
        int kind = next_order(loader);
        if (kind >= 0) {
            work_order(loader, (LoaderKind)kind);
            continue;
        }
        pthread_cond_broadcast(&loader->idle);
        if (!wait_for_order(loader) && !loader->stopping && next_order(loader) < 0) {
            work_watch(loader);
        }
    }
    for (int kind = 0; kind < LOADER_KIND_COUNT; kind++) {
        waste(loader, loader->results[kind]);
        loader->results[kind] = NULL;
    }
    ArrayFile *taken = loader->taken;
    loader->taken = NULL;
    free_waste(loader);
    pthread_mutex_unlock(&loader->mutex);
    array_file_close(&taken);
    array_file_close(&loader->file);
    return NULL;
}

/* ---- The frame thread ---- */

Loader *loader_create(void)
{
    Loader *loader = calloc(1, sizeof(*loader));
    pthread_condattr_t monotonic;
    if (loader == NULL) {
        return NULL;
    }
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&loader->mutex, NULL);
    pthread_cond_init(&loader->asked, &monotonic);
    pthread_cond_init(&loader->idle, &monotonic);
    pthread_condattr_destroy(&monotonic);
    loader->watches = true;
    if (pthread_create(&loader->thread, NULL, work, loader) != 0) {
        pthread_cond_destroy(&loader->idle);
        pthread_cond_destroy(&loader->asked);
        pthread_mutex_destroy(&loader->mutex);
        free(loader);
        return NULL;
    }
    return loader;
}

void loader_destroy(Loader **loader)
{
    if (loader == NULL || *loader == NULL) {
        return;
    }
    Loader *old = *loader;
    *loader = NULL;
    pthread_mutex_lock(&old->mutex);
    old->stopping = true;
    atomic_store(&old->cancel, true);
    pthread_cond_signal(&old->asked);
    pthread_mutex_unlock(&old->mutex);
    pthread_join(old->thread, NULL);
    for (int kind = 0; kind < LOADER_KIND_COUNT; kind++) {
        free(old->orders[kind].address);
    }
    free(old->watched);
    pthread_cond_destroy(&old->idle);
    pthread_cond_destroy(&old->asked);
    pthread_mutex_destroy(&old->mutex);
    free(old);
}

/* Forgets what was asked and answered of one kind. Answers the address it held, to be freed. */
static char *drop_kind(Loader *loader, int kind)
{
    char *address = loader->orders[kind].address;
    waste(loader, loader->results[kind]);
    memset(&loader->orders[kind], 0, sizeof(loader->orders[kind]));
    loader->results[kind] = NULL;
    loader->newest[kind] = 0;
    if (loader->working[kind] != 0) {
        atomic_store(&loader->cancel, true);
    }
    return address;
}

/* A new picture makes the finer part and the element of the old one unwanted; a new file all. */
static bool replaces(LoaderKind by, int kind)
{
    return kind == (int)by || by == LOADER_KIND_OPEN ||
           (by == LOADER_KIND_SLICE && (kind == LOADER_KIND_DETAIL || kind == LOADER_KIND_ELEMENT));
}

static uint64_t ask(Loader *loader, LoaderKind kind, const Order *order)
{
    char *addresses[LOADER_KIND_COUNT] = {NULL};
    pthread_mutex_lock(&loader->mutex);
    for (int other = 0; other < LOADER_KIND_COUNT; other++) {
        if (replaces(kind, other)) {
            addresses[other] = drop_kind(loader, other);
        }
    }
    if (kind == LOADER_KIND_OPEN) {
        loader->watch_serial++;
        if (loader->watching) {
            atomic_store(&loader->cancel, true); /* that file is not watched any more */
        }
    }
    uint64_t ticket = ++loader->last_ticket;
    loader->orders[kind] = *order;
    loader->orders[kind].ticket = ticket;
    loader->newest[kind] = ticket;
    pthread_cond_signal(&loader->asked);
    pthread_mutex_unlock(&loader->mutex);
    for (int other = 0; other < LOADER_KIND_COUNT; other++) {
        free(addresses[other]);
    }
    return ticket;
}

uint64_t loader_open(Loader *loader, const char *address)
{
    Order order = {0};
    order.address = strdup(address);
    return order.address != NULL ? ask(loader, LOADER_KIND_OPEN, &order) : 0;
}

uint64_t loader_slice(Loader *loader, const SliceRequest *request)
{
    Order order = {0};
    order.slice = *request;
    return ask(loader, LOADER_KIND_SLICE, &order);
}

uint64_t loader_detail(Loader *loader, const SliceRequest *request)
{
    Order order = {0};
    order.slice = *request;
    return ask(loader, LOADER_KIND_DETAIL, &order);
}

uint64_t loader_element(Loader *loader, uint32_t array, const AxisChoice *axes, uint64_t row,
                        uint64_t col)
{
    Order order = {0};
    order.slice.array = array;
    order.slice.axes = *axes;
    order.row = row;
    order.col = col;
    return ask(loader, LOADER_KIND_ELEMENT, &order);
}

bool loader_take(Loader *loader, LoaderResult *out)
{
    LoaderResult *result = NULL;
    pthread_mutex_lock(&loader->mutex);
    for (int kind = 0; kind < LOADER_KIND_COUNT && result == NULL; kind++) {
        result = loader->results[kind];
        loader->results[kind] = NULL;
    }
    ArrayFile *unread = NULL;
    char *unwanted = NULL;
    if (result != NULL && result->file != NULL) {
        unread = loader->taken;
        loader->taken = result->file;
        loader->has_file = true;
        result->file = NULL;
    }
    if (result != NULL && result->kind == LOADER_KIND_OPEN && (result->done || !loader->has_file)) {
        unwanted = loader->watched;
        loader->watched = result->address;
        result->address = NULL;
        loader->watch_stamp = result->stamp;
        loader->watch_serial++;
        pthread_cond_signal(&loader->asked); /* it may be waiting without an end */
    }
    char *refused = NULL;
    if (result != NULL) {
        refused = result->address; /* an open that was refused, beside a file that stays */
        result->address = NULL;
        *out = *result;
        memset(result, 0, sizeof(*result));
        result->file = unread;
        waste(loader, result);
    }
    pthread_mutex_unlock(&loader->mutex);
    free(unwanted);
    free(refused);
    return result != NULL;
}

void loader_set_watch(Loader *loader, bool watch)
{
    pthread_mutex_lock(&loader->mutex);
    loader->watches = watch;
    pthread_cond_signal(&loader->asked);
    pthread_mutex_unlock(&loader->mutex);
}

void loader_discard(Loader *loader, Source **source, SliceData **data)
{
    LoaderResult *result = loader != NULL ? calloc(1, sizeof(*result)) : NULL;
    if (result == NULL || (*source == NULL && *data == NULL)) {
        source_destroy(source);
        slice_data_destroy(data);
        free(result);
        return;
    }
    result->source = *source;
    result->data = *data;
    *source = NULL;
    *data = NULL;
    pthread_mutex_lock(&loader->mutex);
    waste(loader, result);
    pthread_mutex_unlock(&loader->mutex);
}

bool loader_is_busy(Loader *loader, LoaderKind kind)
{
    pthread_mutex_lock(&loader->mutex);
    bool busy = loader->newest[kind] != 0 &&
                (loader->orders[kind].ticket != 0 || loader->working[kind] == loader->newest[kind]);
    pthread_mutex_unlock(&loader->mutex);
    return busy;
}

double loader_progress(const Loader *loader)
{
    return (double)atomic_load_explicit(&loader->progress_ppm, memory_order_relaxed) * 1e-6;
}

static bool is_idle(const Loader *loader)
{
    for (int kind = 0; kind < LOADER_KIND_COUNT; kind++) {
        if (loader->working[kind] != 0) {
            return false;
        }
    }
    return next_order(loader) < 0;
}

bool loader_wait(Loader *loader, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)floor(seconds);
    until.tv_nsec += (long)((seconds - floor(seconds)) * 1e9);
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    pthread_mutex_lock(&loader->mutex);
    int status = 0;
    while (!is_idle(loader) && status == 0) {
        status = pthread_cond_timedwait(&loader->idle, &loader->mutex, &until);
    }
    bool idle = is_idle(loader);
    pthread_mutex_unlock(&loader->mutex);
    return idle;
}
