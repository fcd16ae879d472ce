/* The crash report: crash-<pid>.txt in the data root, and a line on stderr. Runs on the rescue
 * thread, or in the signal handler where there is none: open, write and close only. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/caller.h"
#include "core/guard_impl.h"
#include "core/guard_modules.h"

enum { FOLDER_BYTES = 4096, BUFFER_BYTES = 1024 };

static char report_folder[FOLDER_BYTES]; /* written while no handler is installed, or the same */

void guard_report_set_folder(const char *folder)
{
    size_t length = folder != NULL ? strlen(folder) : 0;
    if (length >= sizeof report_folder)
        length = 0;
    memcpy(report_folder, folder != NULL ? folder : "", length);
    report_folder[length] = '\0';
}

typedef struct Writer {
    int fd;
    size_t used;
    char text[BUFFER_BYTES];
} Writer;

static void flush(Writer *writer)
{
    size_t done = 0;
    while (writer->fd >= 0 && done < writer->used) {
        ssize_t wrote = write(writer->fd, writer->text + done, writer->used - done);
        if (wrote <= 0)
            break;
        done += (size_t)wrote;
    }
    writer->used = 0;
}

static void put(Writer *writer, const char *text)
{
    for (; *text != '\0'; text++) {
        if (writer->used == sizeof writer->text)
            flush(writer);
        writer->text[writer->used++] = *text;
    }
}

static void put_number(Writer *writer, uint64_t value, unsigned base)
{
    char digits[24];
    size_t at = sizeof digits;
    digits[--at] = '\0';
    do {
        digits[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    put(writer, base == 16 ? "0x" : "");
    put(writer, &digits[at]);
}

static void put_address(Writer *writer, uintptr_t address)
{
    put_number(writer, address, 16);
    const Module *module = guard_modules_find(address);
    if (module == NULL)
        return;
    put(writer, " ");
    put(writer, module->path);
    put(writer, "+");
    put_number(writer, address - module->first, 16);
}

static void put_fault(Writer *writer, const GuardCrash *crash)
{
    const char *applet = caller_name(crash->caller);
    put(writer, guard_signal_name(crash->fault->signal));
    put(writer, " at ");
    put_number(writer, crash->fault->address, 16);
    put(writer, applet[0] != '\0' ? ", applet " : "");
    put(writer, applet);
    put(writer, crash->what != NULL || crash->thread != NULL ? ", in " : "");
    put(writer, crash->what != NULL ? crash->what : crash->thread != NULL ? crash->thread : "");
}

static void put_count(Writer *writer, uint32_t count, const char *words)
{
    if (count == 0)
        return;
    put(writer, ", ");
    put_number(writer, count, 10);
    put(writer, words);
}

/* "3 of 4 written out in 120 ms, 1 cut off" */
static void put_flushed(Writer *writer, const RescueFlushed *flushed)
{
    if (!flushed->asked || flushed->gave_up) {
        put(writer, flushed->asked ? "the rescue thread did not come back" : "no rescue thread");
        return;
    }
    put_number(writer, flushed->back, 10);
    put(writer, " of ");
    put_number(writer, flushed->back + flushed->late + flushed->faulted, 10);
    put(writer, " written out in ");
    put_number(writer, flushed->took_ms, 10);
    put(writer, " ms");
    put_count(writer, flushed->late, " cut off at the deadline");
    put_count(writer, flushed->faulted, " faulted");
}

static void report_path(char *out, size_t out_bytes)
{
    Writer name = {.fd = -1};
    put(&name, "/crash-");
    put_number(&name, (uint64_t)getpid(), 10);
    put(&name, ".txt");
    size_t folder_length = strlen(report_folder);
    if (folder_length + name.used + 1 > out_bytes)
        folder_length = 0;
    memcpy(out, report_folder, folder_length);
    memcpy(out + folder_length, name.text, name.used);
    out[folder_length + name.used] = '\0';
}

void guard_report_write(const GuardCrash *crash)
{
    const GuardFault *fault = crash->fault;
    char path[FOLDER_BYTES + 64] = "";
    Writer file = {.fd = -1};
    if (report_folder[0] != '\0') {
        report_path(path, sizeof path);
        file.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    }
    put(&file, "Caliper crash report\ntime: ");
    put_number(&file, (uint64_t)time(NULL), 10);
    put(&file, " s since 1970, UTC\nfault: ");
    put_fault(&file, crash);
    put(&file, "\nwhy it was not contained: ");
    put(&file, crash->why);
    put(&file, "\nstores: ");
    put_flushed(&file, &crash->flushed);
    put(&file, fault->walked ? "\nstack, up to the guard:\n" : "\nstack:\n");
    for (uint32_t i = 0; i < fault->frame_count; i++) {
        put(&file, "#");
        put_number(&file, i, 10);
        put(&file, " ");
        put_address(&file, fault->frames[i]);
        put(&file, "\n");
    }
    flush(&file);
    if (file.fd >= 0)
        close(file.fd);
    Writer line = {.fd = STDERR_FILENO};
    put(&line, "caliper: ");
    put_fault(&line, crash);
    put(&line, "; not contained: ");
    put(&line, crash->why);
    put(&line, file.fd >= 0 ? "; report in " : "; no report could be written");
    put(&line, file.fd >= 0 ? path : "");
    put(&line, "\n");
    flush(&line);
}
