/* caliper.widgets.draft: the id under which caliper.widgets.v1 was known before it was frozen. The
 * same table; goes as soon as nothing in the tree asks for it. */
#ifndef CALIPER_SERVICES_DRAFT_WIDGETS_H
#define CALIPER_SERVICES_DRAFT_WIDGETS_H

#include <caliper/services/widgets_v1.h>

#define CALIPER_WIDGETS_DRAFT "caliper.widgets.draft"

typedef CaliperWidgetsV1 CaliperWidgetsDraft;

#endif
