/* Failure injection. The plan is small and read rarely; counting takes a mutex because a plan is
 * only ever set in tests and fault hunts. Any thread. */
#include "core/fault.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/guard.h"
#include "core/log.h"

enum { PLAN_RULES_MAX = 32, SITE_NAME_MAX = 64 };

typedef struct FaultRule {
    char site[SITE_NAME_MAX]; /* empty: any site */
    uint32_t at;
    bool and_later;
    uint32_t seen;
} FaultRule;

static pthread_mutex_t plan_mutex = PTHREAD_MUTEX_INITIALIZER;
static FaultRule plan_rules[PLAN_RULES_MAX];
static int plan_rule_count;
static uint32_t plan_calls;
static uint32_t plan_injected;
static atomic_bool plan_active;

static void plan_lock(void)
{
    guard_lock_enter();
    pthread_mutex_lock(&plan_mutex);
}

static void plan_unlock(void)
{
    pthread_mutex_unlock(&plan_mutex);
    guard_lock_leave();
}

static bool rule_parse(const char *text, size_t length, FaultRule *out)
{
    memset(out, 0, sizeof *out);
    const char *end = text + length;
    const char *colon = memchr(text, ':', length);
    const char *digits = text;
    if (colon != NULL) {
        size_t site_length = (size_t)(colon - text);
        if (site_length == 0 || site_length >= sizeof out->site)
            return false;
        memcpy(out->site, text, site_length);
        digits = colon + 1;
    }
    if (end > digits && end[-1] == '+') {
        out->and_later = true;
        end--;
    }
    if (end == digits || end - digits > 9)
        return false;
    for (const char *c = digits; c < end; c++) {
        if (*c < '0' || *c > '9')
            return false;
        out->at = out->at * 10u + (uint32_t)(*c - '0');
    }
    return out->at > 0;
}

static bool plan_parse(const char *plan)
{
    while (*plan != '\0') {
        size_t length = strcspn(plan, ",");
        if (plan_rule_count == PLAN_RULES_MAX ||
            !rule_parse(plan, length, &plan_rules[plan_rule_count]))
            return false;
        plan_rule_count++;
        plan += length;
        if (*plan == ',')
            plan++;
    }
    return true;
}

bool fault_set_plan(const char *plan)
{
    plan_lock();
    plan_rule_count = 0;
    plan_calls = 0;
    plan_injected = 0;
    bool ok = plan == NULL || plan_parse(plan);
    if (!ok)
        plan_rule_count = 0;
    atomic_store(&plan_active, plan_rule_count > 0);
    plan_unlock();
    return ok;
}

static bool site_matches(const char *rule_site, const char *site)
{
    size_t length = strlen(rule_site);
    return length == 0 ||
           (strncmp(rule_site, site, length) == 0 && (site[length] == '\0' || site[length] == '.'));
}

bool fault_here(const char *site)
{
    if (!atomic_load_explicit(&plan_active, memory_order_relaxed))
        return false;
    bool fail = false;
    bool matched = false;
    plan_lock();
    for (int i = 0; i < plan_rule_count; i++) {
        FaultRule *rule = &plan_rules[i];
        if (!site_matches(rule->site, site))
            continue;
        matched = true;
        rule->seen++;
        fail |= rule->seen == rule->at || (rule->and_later && rule->seen > rule->at);
    }
    plan_calls += matched ? 1u : 0u;
    plan_injected += fail ? 1u : 0u;
    uint32_t call = plan_calls;
    plan_unlock();
    if (fail)
        log_item(FAULT_INJECTED, site, (unsigned)call);
    return fail;
}

uint32_t fault_calls(void)
{
    plan_lock();
    uint32_t calls = plan_calls;
    plan_unlock();
    return calls;
}

uint32_t fault_injected(void)
{
    plan_lock();
    uint32_t injected = plan_injected;
    plan_unlock();
    return injected;
}
