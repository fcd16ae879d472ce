/* services/artifacts_service.h: caliper.artifacts.v1.
 *
 * The frozen table carries no context, so the store behind it is one per process: that of the data
 * root given last. It is opened by the first call that needs it. For services.c, the shell and
 * tests; any thread. */
#ifndef CALIPER_SERVICES_ARTIFACTS_SERVICE_H
#define CALIPER_SERVICES_ARTIFACTS_SERVICE_H

#include <caliper/services/artifacts_v1.h>

#include "store/artifacts/artifact_store.h"

/* Lives for the process. */
const CaliperArtifactsV1 *artifacts_service_table(void);

/* The data root (copied) of `owner`, in place of the one before. False without memory. */
bool artifacts_service_bind(const void *owner, const char *data_root);
/* From now on calls are refused, unless somebody else than `owner` was bound since. A store is
 * closed when the calls in it have returned. */
void artifacts_service_unbind(const void *owner);

/* The store, for the host's own use; NULL after a line when it cannot be opened. Give it back. */
ArtifactStore *artifacts_service_acquire(void);
void artifacts_service_release(ArtifactStore *store);

#endif
