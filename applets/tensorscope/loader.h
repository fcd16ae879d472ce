/* tensorscope/loader.h: file work on a thread of its own, asked and answered through a mailbox. The
 * thread also looks, ten times a second while nothing is asked, whether the file that is shown was
 * written again, and opens it anew when it was.
 *
 * All calls are for the frame thread and none of them waits for the disk: the mutex is held for
 * pointer swaps alone. (loader_wait waits, and says so.) Of each kind only the newest request
 * counts: what it replaces is cancelled, within one read of a MiB, and is never answered. What is
 * large is freed, and a file closed, on the loader's thread too. */
#ifndef TENSORSCOPE_LOADER_H
#define TENSORSCOPE_LOADER_H

#include "slice_data.h"
#include "stamp.h"

typedef enum LoaderKind {
    LOADER_KIND_OPEN = 0, /* a file; the one before is read until this answer is taken */
    LOADER_KIND_REFRESH,  /* not asked for: the file that is shown changed; as an open */
    LOADER_KIND_ELEMENT,  /* the elements of one cell */
    LOADER_KIND_SLICE,    /* the picture */
    LOADER_KIND_DETAIL,   /* a part of it at a finer step */
    LOADER_KIND_COUNT
} LoaderKind;

enum { LOADER_ELEMENTS_MAX = 4 /* colour channels */ };

typedef struct LoaderResult {
    LoaderKind kind;
    uint64_t ticket;
    bool done;        /* false: `error` says why not */
    ArrayError error; /* one line for people */
    ArrayFile *file;  /* of an open, until loader_take hands it to the thread; never the caller's */
    char *address;    /* of an open, until loader_take; never the caller's */
    Stamp stamp;      /* of an open or refresh: the content that was tried */
    bool second_look; /* of a refresh: the stamp is the one before, which was fresh */
    /* By kind, now the caller's: */
    Source *source;
    SliceData *data;
    uint32_t element_count;
    uint64_t elements[LOADER_ELEMENTS_MAX]; /* each in its first bytes, host byte order */
    struct LoaderResult *next_waste;        /* the loader's own */
} LoaderResult;

typedef struct Loader Loader;

/* Starts the thread; NULL when the system refuses. */
Loader *loader_create(void);
/* Cancels, waits for the thread (at most one read of a MiB, and what it frees); NULLs, accepts
 * NULL. */
void loader_destroy(Loader **loader);

/* Each answers a ticket, above 0, that its result will carry. Opening drops every other request.
 * `address`: a path, or one of formats/raw_layout.h. */
uint64_t loader_open(Loader *loader, const char *address);
uint64_t loader_slice(Loader *loader, const SliceRequest *request);
uint64_t loader_detail(Loader *loader, const SliceRequest *request);
/* The element of a cell of the picture; all its channels where it is colour. */
uint64_t loader_element(Loader *loader, uint32_t array, const AxisChoice *axes, uint64_t row,
                        uint64_t col);

/* Takes one answer; false: none there. An open that is taken done is the file from then on: what is
 * asked later is read from it, and from no file whose answer was never taken. */
bool loader_take(Loader *loader, LoaderResult *out);
/* Whether the file whose open was taken last is looked at for changes; it is from the start. One
 * that could not be opened is, where none was before it: it may be whole in a moment. */
void loader_set_watch(Loader *loader, bool watch);
/* Frees these on the loader's thread and NULLs them; each may be NULL. Without a loader: at once.
 */
void loader_discard(Loader *loader, Source **source, SliceData **data);

bool loader_is_busy(Loader *loader, LoaderKind kind);
/* The share done of what is being worked on, 0 to 1. */
double loader_progress(const Loader *loader);
/* Waits until nothing is asked any more, at most so long. For repeatable pictures alone. */
bool loader_wait(Loader *loader, double seconds);

#endif
