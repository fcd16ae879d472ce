/* cli/artifacts_export.h: `caliper artifacts export NAME|DIGEST FILE`.
 *
 * For cli/artifacts.c. First thread of the process. */
#ifndef CALIPER_CLI_ARTIFACTS_EXPORT_H
#define CALIPER_CLI_ARTIFACTS_EXPORT_H

#include "cli/cli.h"
#include "store/artifacts/artifact_store.h"

/* Copies words[1] to the file words[2], which appears whole, with the right bytes, or not at all.
 * The exit status. */
int artifacts_export(ArtifactStore *store, const CliOptions *options);

#endif
