/* core/sanitized.h: which sanitizer this build is for, 0 or 1, with gcc and clang alike. Any folder
 * and any test may include it. */
#ifndef CALIPER_CORE_SANITIZED_H
#define CALIPER_CORE_SANITIZED_H

#if defined(__has_feature)
#define SANITIZED_HAS(feature) __has_feature(feature)
#else
#define SANITIZED_HAS(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || SANITIZED_HAS(address_sanitizer)
#define SANITIZED_ADDRESS 1
#else
#define SANITIZED_ADDRESS 0
#endif

#if defined(__SANITIZE_THREAD__) || SANITIZED_HAS(thread_sanitizer)
#define SANITIZED_THREAD 1
#else
#define SANITIZED_THREAD 0
#endif

#endif
