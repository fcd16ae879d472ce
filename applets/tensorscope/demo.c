/* tensorscope/demo.c: blocks that take turns between the writing thread and the frames. The public
 * calls are the frame thread's; write_fields runs on the demo's own. */
#include "demo.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "field.h"

/* A frame's GPU work may still be reading while the host is 3 frames further (the most any of its
 * renderers is ahead): a block rests for 4 frames, so 5 are written in turn and one is shown. */
enum { BLOCKS = 6, REST_FRAMES = 4 };

typedef struct Block {
    CaliperTextureId texture;
    float *values;
    uint64_t last_frame; /* that drew it; 0: none */
} Block;

typedef enum Turn {
    TURN_FREE = 0, /* the thread sleeps */
    TURN_ASKED,    /* a field is wanted in `target` */
    TURN_WRITTEN   /* it is there */
} Turn;

struct Demo {
    const CaliperTensorBridgeV1 *bridge;
    int32_t side;
    Block blocks[BLOCKS];
    /* The frame thread's own. */
    int shown; /* -1: none yet */
    uint64_t frame;
    uint64_t fields;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t asked;
    pthread_cond_t written;
    /* Under the mutex. `target`'s values belong to the thread while TURN_ASKED. */
    Turn turn;
    int target;
    double time_sec;
    bool stopping;
};

static void *write_fields(void *user)
{
    Demo *demo = user;
    pthread_mutex_lock(&demo->mutex);
    while (!demo->stopping) {
        if (demo->turn != TURN_ASKED) {
            pthread_cond_wait(&demo->asked, &demo->mutex);
            continue;
        }
        float *values = demo->blocks[demo->target].values;
        double time_sec = demo->time_sec;
        pthread_mutex_unlock(&demo->mutex);
        field_write(values, demo->side, time_sec);
        pthread_mutex_lock(&demo->mutex);
        demo->turn = TURN_WRITTEN;
        pthread_cond_signal(&demo->written);
    }
    pthread_mutex_unlock(&demo->mutex);
    return NULL;
}

static void free_blocks(Demo *demo)
{
    for (int i = 0; i < BLOCKS; i++) {
        if (demo->blocks[i].texture != 0) {
            demo->bridge->free_shared(demo->blocks[i].texture);
        }
    }
}

Demo *demo_create(const CaliperTensorBridgeV1 *bridge, int32_t side)
{
    const int64_t shape[2] = {side, side};
    pthread_condattr_t monotonic;
    Demo *demo = calloc(1, sizeof(*demo));
    if (demo == NULL) {
        return NULL;
    }
    demo->bridge = bridge;
    demo->side = side;
    demo->shown = -1;
    for (int i = 0; i < BLOCKS; i++) {
        CaliperTensor tensor;
        if (!bridge->alloc_shared(CALIPER_DT_F32, 2, shape, &tensor, &demo->blocks[i].texture)) {
            goto fail;
        }
        demo->blocks[i].values = tensor.data;
    }
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&demo->mutex, NULL);
    pthread_cond_init(&demo->asked, NULL);
    pthread_cond_init(&demo->written, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&demo->thread, NULL, write_fields, demo) != 0) {
        pthread_cond_destroy(&demo->written);
        pthread_cond_destroy(&demo->asked);
        pthread_mutex_destroy(&demo->mutex);
        goto fail;
    }
    return demo;
fail:
    free_blocks(demo);
    free(demo);
    return NULL;
}

void demo_destroy(Demo **demo)
{
    if (demo == NULL || *demo == NULL) {
        return;
    }
    Demo *old = *demo;
    *demo = NULL;
    pthread_mutex_lock(&old->mutex);
    old->stopping = true;
    pthread_cond_signal(&old->asked);
    pthread_mutex_unlock(&old->mutex);
    pthread_join(old->thread, NULL);
    pthread_cond_destroy(&old->written);
    pthread_cond_destroy(&old->asked);
    pthread_mutex_destroy(&old->mutex);
    free_blocks(old);
    free(old);
}

/* A block that is not shown and that no frame in flight reads, or -1. */
static int rested_block(const Demo *demo)
{
    for (int i = 0; i < BLOCKS; i++) {
        uint64_t last = demo->blocks[i].last_frame;
        if (i != demo->shown && (last == 0 || demo->frame - last >= REST_FRAMES)) {
            return i;
        }
    }
    return -1;
}

/* With the mutex held: what is written is shown from now on. */
static void take_written(Demo *demo)
{
    if (demo->turn == TURN_WRITTEN) {
        demo->shown = demo->target;
        demo->fields++;
        demo->turn = TURN_FREE;
    }
}

static void ask_for(Demo *demo, double time_sec)
{
    int block = demo->turn == TURN_FREE ? rested_block(demo) : -1;
    if (block >= 0) {
        demo->target = block;
        demo->time_sec = time_sec;
        demo->turn = TURN_ASKED;
        pthread_cond_signal(&demo->asked);
    }
}

CaliperTextureId demo_frame(Demo *demo, double time_sec, bool repeatable)
{
    demo->frame++;
    pthread_mutex_lock(&demo->mutex);
    take_written(demo);
    ask_for(demo, time_sec);
    if (repeatable) {
        struct timespec until;
        int status = 0;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += 2;
        while (demo->turn == TURN_ASKED && status == 0) {
            status = pthread_cond_timedwait(&demo->written, &demo->mutex, &until);
        }
        take_written(demo);
    }
    pthread_mutex_unlock(&demo->mutex);
    if (demo->shown < 0) {
        return 0;
    }
    demo->blocks[demo->shown].last_frame = demo->frame;
    return demo->blocks[demo->shown].texture;
}

const float *demo_values(const Demo *demo)
{
    return demo->shown >= 0 ? demo->blocks[demo->shown].values : NULL;
}

int32_t demo_side(const Demo *demo)
{
    return demo->side;
}

uint64_t demo_fields(const Demo *demo)
{
    return demo->fields;
}
