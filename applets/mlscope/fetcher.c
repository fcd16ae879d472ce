/* The job that fetches; see fetcher.h. */
#include "fetcher.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Fetcher {
    char folder[DATASETS_PATH_BYTES]; /* the job's while it runs */
    const CaliperJobControl *control;
    pthread_mutex_t lock;
    FetcherView view; /* under the lock */
};

Fetcher *fetcher_create(void)
{
    Fetcher *fetcher = calloc(1, sizeof *fetcher);
    if (fetcher != NULL && pthread_mutex_init(&fetcher->lock, NULL) != 0) {
        free(fetcher);
        fetcher = NULL;
    }
    return fetcher;
}

void fetcher_destroy(Fetcher **fetcher)
{
    if (*fetcher == NULL)
        return;
    pthread_mutex_destroy(&(*fetcher)->lock);
    free(*fetcher);
    *fetcher = NULL;
}

static void set(Fetcher *fetcher, FetcherState state, const char *words)
{
    pthread_mutex_lock(&fetcher->lock);
    fetcher->view.state = state;
    snprintf(fetcher->view.words, sizeof fetcher->view.words, "%s", words);
    pthread_mutex_unlock(&fetcher->lock);
}

void fetcher_prepare(Fetcher *fetcher, const char *folder)
{
    snprintf(fetcher->folder, sizeof fetcher->folder, "%s", folder);
    set(fetcher, FETCHER_STATE_RUNNING, "");
}

void fetcher_refuse(Fetcher *fetcher, const char *words)
{
    set(fetcher, FETCHER_STATE_FAILED, words);
}

static bool going(void *user, const DatasetsProgress *progress)
{
    Fetcher *fetcher = user;
    const CaliperJobControl *control = fetcher->control;
    pthread_mutex_lock(&fetcher->lock);
    fetcher->view.got_bytes = progress->got_bytes;
    fetcher->view.total_bytes = progress->total_bytes;
    pthread_mutex_unlock(&fetcher->lock);
    if (progress->total_bytes > 0)
        control->progress(control, (float)progress->got_bytes / (float)progress->total_bytes,
                          progress->file);
    return !control->cancelled(control);
}

void fetcher_run(void *user, const CaliperJobControl *control)
{
    Fetcher *fetcher = user;
    char why[DATASETS_ERROR_BYTES] = "";
    fetcher->control = control;
    const DatasetsFetch fetch = {.folder = fetcher->folder, .going = going, .user = fetcher};
    switch (datasets_fetch(&datasets_mnist, &fetch, why)) {
    case DATASETS_RESULT_DONE:
        set(fetcher, FETCHER_STATE_DONE, "");
        break;
    case DATASETS_RESULT_STOPPED:
        set(fetcher, FETCHER_STATE_IDLE, "");
        break;
    case DATASETS_RESULT_FAILED:
        set(fetcher, FETCHER_STATE_FAILED, why);
        break;
    }
}

void fetcher_view(Fetcher *fetcher, FetcherView *out)
{
    pthread_mutex_lock(&fetcher->lock);
    *out = fetcher->view;
    pthread_mutex_unlock(&fetcher->lock);
}
