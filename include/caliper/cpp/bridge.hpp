/* caliper/cpp/bridge.hpp: textures that release themselves, the bridge, reading back.
 *
 * Part of caliper/caliper.hpp, which says the rules. Everything here is [frame]. */
#ifndef CALIPER_CPP_BRIDGE_HPP
#define CALIPER_CPP_BRIDGE_HPP

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include <caliper/caliper.h>
#include <caliper/cpp/host.hpp>

namespace caliper
{

/* Owns one texture and releases it. Must be gone by the end of cleanup; members of an Applet are.
 * [frame] */
class Texture
{
  public:
    using Release = void (*)(CaliperTextureId);
    using Update = bool (*)(CaliperTextureId, const CaliperTensor *);

    Texture() = default;
    Texture(CaliperTextureId id, Update update_slot, Release release_slot) noexcept
        : id_(id), update_(update_slot), release_(release_slot)
    {
    }
    Texture(Texture &&other) noexcept
    {
        swap(other);
    }
    Texture &operator=(Texture &&other) noexcept
    {
        Texture(std::move(other)).swap(*this);
        return *this;
    }
    Texture(const Texture &) = delete;
    Texture &operator=(const Texture &) = delete;
    ~Texture()
    {
        reset();
    }

    explicit operator bool() const noexcept
    {
        return id_ != 0;
    }
    CaliperTextureId id() const noexcept
    {
        return id_;
    }

    /* New contents of the same shape and dtype; false when refused, or empty. */
    bool update(const CaliperTensor &tensor) const noexcept
    {
        return id_ != 0 && update_ != nullptr && update_(id_, &tensor);
    }

    /* Releases it now. */
    void reset() noexcept
    {
        const CaliperTextureId id = std::exchange(id_, CaliperTextureId{0});
        if (id != 0 && release_ != nullptr) {
            release_(id);
        }
    }

    /* Gives the id away: the caller releases it. */
    CaliperTextureId release() noexcept
    {
        return std::exchange(id_, CaliperTextureId{0});
    }

    void swap(Texture &other) noexcept
    {
        std::swap(id_, other.id_);
        std::swap(update_, other.update_);
        std::swap(release_, other.release_);
    }

  private:
    CaliperTextureId id_ = 0;
    Update update_ = nullptr;
    Release release_ = nullptr;
};

/* A texture of alloc_shared with the memory behind it. */
struct SharedTexture {
    CaliperTensor tensor{}; /* device CPU; write through tensor.data; gone with the texture */
    Texture texture;
};

/* caliper.tensor_bridge: v1_2 where the host has it, else v1_1, else v1. [frame] */
class Bridge
{
  public:
    Bridge() = default;
    explicit Bridge(Host host) noexcept
    {
        if (auto *v1_2 = host.service<CaliperTensorBridgeV1_2>(CALIPER_TENSOR_BRIDGE_V1_2)) {
            slots_ = *v1_2;
            revision_ = 2;
        } else if (auto *v1_1 = host.service<CaliperTensorBridgeV1_1>(CALIPER_TENSOR_BRIDGE_V1_1)) {
            take_v1(*v1_1);
            slots_.caps = v1_1->caps;
            revision_ = 1;
        } else if (auto *v1 = host.service<CaliperTensorBridgeV1>(CALIPER_TENSOR_BRIDGE_V1)) {
            take_v1(*v1);
            revision_ = 0;
        }
    }

    explicit operator bool() const noexcept
    {
        return revision_ >= 0;
    }

    /* The minor number of the revision in use: 0, 1 or 2; -1 without a bridge. */
    int revision() const noexcept
    {
        return revision_;
    }

    /* CALIPER_BRIDGE_CAP_* bits; 0 where the host's bridge has no caps(). */
    std::uint32_t caps() const noexcept
    {
        return slots_.caps != nullptr ? slots_.caps() : 0;
    }
    bool stream_ordered() const noexcept
    {
        return (caps() & CALIPER_BRIDGE_CAP_STREAM_ORDERED) != 0;
    }
    bool can_import() const noexcept
    {
        return (caps() & CALIPER_BRIDGE_CAP_IMPORT_ALLOC) != 0;
    }

    /* (H, W, C) u8, shown directly; empty when refused. */
    Texture texture(const CaliperTensor &t, std::uint32_t flags = 0) const noexcept
    {
        return owned(slots_.texture_from_tensor != nullptr ? slots_.texture_from_tensor(&t, flags)
                                                           : 0);
    }

    /* (H, W) f32 through a colormap; empty when refused. */
    Texture texture_mapped(const CaliperTensor &t, CaliperColormap colormap, float vmin, float vmax,
                           std::uint32_t flags = 0) const noexcept
    {
        return owned(slots_.texture_from_tensor_mapped != nullptr
                         ? slots_.texture_from_tensor_mapped(&t, colormap, vmin, vmax, flags)
                         : 0);
    }

    bool update(CaliperTextureId id, const CaliperTensor &t) const noexcept
    {
        return slots_.update_texture != nullptr && slots_.update_texture(id, &t);
    }
    void release(CaliperTextureId id) const noexcept
    {
        if (slots_.release_texture != nullptr) {
            slots_.release_texture(id);
        }
    }

    /* Memory that is a texture; extents outermost first. Empty when refused. */
    std::optional<SharedTexture> shared(CaliperDType dtype,
                                        std::initializer_list<std::int64_t> shape) const noexcept
    {
        SharedTexture out;
        out.tensor.struct_size = sizeof(CaliperTensor);
        CaliperTextureId id = 0;
        if (slots_.alloc_shared == nullptr || shape.size() > CALIPER_TENSOR_MAX_DIMS ||
            !slots_.alloc_shared(dtype, static_cast<std::int32_t>(shape.size()), shape.begin(),
                                 &out.tensor, &id)) {
            return std::nullopt;
        }
        out.texture = Texture(id, slots_.update_texture, slots_.free_shared);
        return out;
    }

    /* v1_2; 0 or false elsewhere. */
    CaliperAllocId import_allocation(void *os_handle, std::uint64_t size_bytes,
                                     std::uint32_t handle_type) const noexcept
    {
        return slots_.import_allocation != nullptr
                   ? slots_.import_allocation(os_handle, size_bytes, handle_type)
                   : 0;
    }
    void release_allocation(CaliperAllocId alloc) const noexcept
    {
        if (slots_.release_allocation != nullptr) {
            slots_.release_allocation(alloc);
        }
    }
    bool update_from(CaliperTextureId id, CaliperAllocId alloc, std::uint64_t offset_bytes,
                     const CaliperTensor &desc) const noexcept
    {
        return slots_.update_texture_from_alloc != nullptr &&
               slots_.update_texture_from_alloc(id, alloc, offset_bytes, &desc);
    }

  private:
    template <class Table> void take_v1(const Table &table) noexcept
    {
        slots_.texture_from_tensor = table.texture_from_tensor;
        slots_.update_texture = table.update_texture;
        slots_.release_texture = table.release_texture;
        slots_.texture_from_tensor_mapped = table.texture_from_tensor_mapped;
        slots_.alloc_shared = table.alloc_shared;
        slots_.free_shared = table.free_shared;
    }
    Texture owned(CaliperTextureId id) const noexcept
    {
        return Texture(id, slots_.update_texture, slots_.release_texture);
    }

    CaliperTensorBridgeV1_2 slots_{}; /* a copy; slots of later revisions stay NULL */
    int revision_ = -1;
};

/* caliper.texture_read.v1. [frame] */
class TextureRead
{
  public:
    struct Size {
        std::int32_t width;
        std::int32_t height;
    };

    TextureRead() = default;
    explicit TextureRead(Host host) noexcept
        : read_(host.service<CaliperTextureReadV1>(CALIPER_TEXTURE_READ_V1))
    {
    }

    explicit operator bool() const noexcept
    {
        return read_ != nullptr;
    }

    std::optional<Size> size(CaliperTextureId id) const noexcept
    {
        Size out{};
        if (!CALIPER_HAS(read_, CaliperTextureReadV1, size) ||
            !read_->size(id, &out.width, &out.height)) {
            return std::nullopt;
        }
        return out;
    }

    /* R, G, B, A bytes, row 0 first; empty when refused. Throws std::bad_alloc. */
    std::vector<std::uint8_t> rgba8(CaliperTextureId id) const
    {
        std::vector<std::uint8_t> pixels;
        const std::optional<Size> extent = size(id);
        if (!extent || !CALIPER_HAS(read_, CaliperTextureReadV1, read_rgba8)) {
            return pixels;
        }
        pixels.resize(std::size_t{4} * static_cast<std::size_t>(extent->width) *
                      static_cast<std::size_t>(extent->height));
        if (!read_->read_rgba8(id, pixels.data(), pixels.size())) {
            pixels.clear();
        }
        return pixels;
    }

  private:
    const CaliperTextureReadV1 *read_ = nullptr;
};

} // namespace caliper

#endif
