/* tensorscope/stamp.h: what tells one content of a file from another without reading it.
 *
 * Any thread; stamp_take asks the file system and is not for the frame thread. */
#ifndef TENSORSCOPE_STAMP_H
#define TENSORSCOPE_STAMP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Stamp {
    bool exists;
    uint64_t device, inode, size_bytes;
    int64_t modified_ns, changed_ns;
    /* Taken so soon after the change that another one might leave the same times: file systems
     * count in ticks of some milliseconds. To be looked at again. */
    bool fresh;
} Stamp;

Stamp stamp_take(const char *path);
/* Whether two stamps are of the same content; `fresh` is not compared. */
bool stamp_same(const Stamp *a, const Stamp *b);

#endif
