/* The Vulkan device chooser over lists of machines nobody has at hand. Expected answers are written
 * down by hand from the rule: the compute device's UUID first, then discrete, integrated, virtual,
 * other, cpu; never a name, a PCI id or a place in the list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "render/vulkan/vk_device_choice.h"

static const uint8_t uuid_a[16] = {0xaa, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const uint8_t uuid_b[16] = {0xbb, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const uint8_t uuid_c[16] = {0xaa, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 99};

static VulkanCandidate device(VulkanDeviceKind kind, const uint8_t uuid[16], const char *name)
{
    VulkanCandidate out = {.kind = kind, .vendor_id = 0x10de, .device_id = 0x2335};
    strncpy(out.name, name, sizeof out.name - 1);
    memcpy(out.uuid, uuid, 16);
    return out;
}

static void expect(const VulkanCandidate *list, uint32_t count, const uint8_t *wanted,
                   int32_t index, VulkanChoiceReason reason)
{
    VulkanChoiceReason given;
    assert_int_equal(vk_device_choose(list, count, wanted, &given), index);
    assert_int_equal(given, reason);
}

static void integrated_first(void **state)
{
    (void)state;
    VulkanCandidate list[] = {device(VULKAN_DEVICE_KIND_INTEGRATED, uuid_a, "small"),
                              device(VULKAN_DEVICE_KIND_CPU, uuid_c, "slow"),
                              device(VULKAN_DEVICE_KIND_DISCRETE, uuid_b, "large")};
    expect(list, 3, NULL, 2, VULKAN_CHOICE_BY_KIND);
    expect(list, 3, uuid_a, 0, VULKAN_CHOICE_UUID);
    expect(list, 3, uuid_b, 2, VULKAN_CHOICE_UUID);
    expect(list, 2, NULL, 0, VULKAN_CHOICE_BY_KIND);
    expect(list + 1, 1, NULL, 0, VULKAN_CHOICE_BY_KIND);
}

static void identical_cards(void **state)
{
    (void)state;
    VulkanCandidate list[] = {device(VULKAN_DEVICE_KIND_DISCRETE, uuid_a, "H200"),
                              device(VULKAN_DEVICE_KIND_DISCRETE, uuid_b, "H200")};
    expect(list, 2, uuid_b, 1, VULKAN_CHOICE_UUID);
    expect(list, 2, uuid_a, 0, VULKAN_CHOICE_UUID);
    expect(list, 2, NULL, 0, VULKAN_CHOICE_BY_KIND);
}

static void no_match_and_same_pci_id(void **state)
{
    (void)state;
    /* uuid_c differs from uuid_a in its last byte alone; vendor and device id are the same. */
    VulkanCandidate list[] = {device(VULKAN_DEVICE_KIND_CPU, uuid_b, "slow"),
                              device(VULKAN_DEVICE_KIND_DISCRETE, uuid_c, "H200")};
    expect(list, 2, uuid_a, 1, VULKAN_CHOICE_BY_KIND);
    list[1].kind = VULKAN_DEVICE_KIND_VIRTUAL;
    expect(list, 2, uuid_a, 1, VULKAN_CHOICE_BY_KIND);
}

static void unusable_devices_are_passed_over(void **state)
{
    (void)state;
    VulkanCandidate list[] = {device(VULKAN_DEVICE_KIND_DISCRETE, uuid_a, "old"),
                              device(VULKAN_DEVICE_KIND_INTEGRATED, uuid_b, "new"),
                              device(VULKAN_DEVICE_KIND_CPU, uuid_a, "old through another driver")};
    list[0].unusable = "its Vulkan is older than 1.2";
    expect(list, 3, NULL, 1, VULKAN_CHOICE_BY_KIND);
    expect(list, 3, uuid_a, 2, VULKAN_CHOICE_UUID);
    expect(list, 1, uuid_a, -1, VULKAN_CHOICE_NONE);
    expect(list, 0, NULL, -1, VULKAN_CHOICE_NONE);
}

static void ranks(void **state)
{
    (void)state;
    const VulkanDeviceKind order[] = {VULKAN_DEVICE_KIND_CPU, VULKAN_DEVICE_KIND_OTHER,
                                      VULKAN_DEVICE_KIND_VIRTUAL, VULKAN_DEVICE_KIND_INTEGRATED,
                                      VULKAN_DEVICE_KIND_DISCRETE};
    for (int low = 0; low < 5; low++)
        for (int high = low + 1; high < 5; high++) {
            VulkanCandidate list[] = {device(order[low], uuid_a, "low"),
                                      device(order[high], uuid_b, "high")};
            expect(list, 2, NULL, 1, VULKAN_CHOICE_BY_KIND);
            VulkanCandidate turned[] = {list[1], list[0]};
            expect(turned, 2, NULL, 0, VULKAN_CHOICE_BY_KIND);
        }
}

static void uuids_are_written_as_usual(void **state)
{
    (void)state;
    char text[VULKAN_UUID_TEXT_BYTES];
    vk_uuid_text(uuid_a, text);
    assert_string_equal(text, "aa010203-0405-0607-0809-0a0b0c0d0e0f");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(integrated_first),
                                       cmocka_unit_test(identical_cards),
                                       cmocka_unit_test(no_match_and_same_pci_id),
                                       cmocka_unit_test(unusable_devices_are_passed_over),
                                       cmocka_unit_test(ranks),
                                       cmocka_unit_test(uuids_are_written_as_usual)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
