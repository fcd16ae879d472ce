"""An applet in Python: a tensor that changes every frame, and controls. twin.c is the same in C.

build.py makes a library of it. `caliper_c` is what that offers: `ffi` makes C values, `lib` has the SDK's
constants. Memory that `ffi` makes lives as long as Python refers to it.
"""
import math
from array import array

ffi, lib = caliper_c.ffi, caliper_c.lib

ROWS, COLUMNS = 48, 80
BRIDGE, WIDGETS = b"caliper.tensor_bridge.v1", b"caliper.widgets.v1"


def service(host, name, table):
    """A service's table, or None when the host does not offer it or offers a shorter one."""
    found = ffi.cast(f"const {table} *", host.get_service(host, name))
    return found if found and found.struct_size >= ffi.sizeof(table) else None


class Waves:
    def __init__(self):
        self.field = array("f", bytes(4 * ROWS * COLUMNS))
        self.phase = 0.0
        self.speed = ffi.new("double *", 3.0)  # the host reads and writes what it points to
        self.waves = ffi.new("double *", 4.0)
        self.paused = ffi.new("bool *", False)
        self.notes = ffi.new("char[64]", b"caf\xc3\xa9")
        self.view = ffi.new("double[3]")
        self.column, self.row = ffi.new("int64_t *"), ffi.new("int64_t *")
        self.texture = 0
        self.bridge = self.ui = None

    def tensor(self):
        """The field as a CaliperTensor, which points into the array."""
        tensor = ffi.new("CaliperTensor *")
        tensor.struct_size = ffi.sizeof("CaliperTensor")
        tensor.data = ffi.from_buffer(self.field)
        tensor.dtype, tensor.ndim = lib.CALIPER_DT_F32, 2
        tensor.shape[0:2] = [ROWS, COLUMNS]
        tensor.strides[0:2] = [COLUMNS, 1]
        return tensor

    def compute(self):
        step, middle = self.waves[0] * 2.0 * math.pi / COLUMNS, (ROWS - 1) / 2.0
        at = 0
        for row in range(ROWS):
            height = row - middle
            for column in range(COLUMNS):
                distance = math.sqrt(height * height + column * column)
                self.field[at] = math.sin(step * distance - self.phase)
                at += 1

    def initialize(self, host):
        self.bridge = service(host, BRIDGE, "CaliperTensorBridgeV1")
        self.ui = service(host, WIDGETS, "CaliperWidgetsV1")
        if self.bridge is None or self.ui is None:
            return False
        self.compute()
        self.texture = self.bridge.texture_from_tensor_mapped(
            self.tensor(), lib.CALIPER_CMAP_RDBU, -1.0, 1.0, 0)
        return self.texture != 0

    def frame(self, info):
        ui = self.ui
        if not self.paused[0]:
            self.phase += info.delta_sec * self.speed[0]
        self.compute()
        self.bridge.update_texture(self.texture, self.tensor())

        ui.text_ex(b"Waves", -1, 0, lib.CALIPER_TEXT_HEADING)
        ui.checkbox(b"pause", self.paused)
        ui.same_line(0, 16)
        ui.next_width(160)
        ui.slider(b"speed", self.speed, 0.0, 10.0, 1, b"rad/s", 0)
        ui.same_line(0, 16)
        ui.next_width(160)
        ui.slider(b"waves", self.waves, 1.0, 20.0, 1, ffi.NULL, 0)
        ui.same_line(0, 16)
        ui.next_width(160)
        ui.input_text(b"notes", ffi.NULL, self.notes, 64, 0, 0)
        if (ui.image_view(b"field", self.texture, COLUMNS, ROWS, 0, 0, self.view,
                          lib.CALIPER_IMAGE_GRID)
                and ui.texel(self.column, self.row)):
            row, column = self.row[0], self.column[0]
            value = self.field[row * COLUMNS + column]
            ui.tooltip(b"[%d, %d] = %.4f" % (row, column, value))
        ui.end(lib.CALIPER_SCOPE_IMAGE)

    def cleanup(self):
        self.bridge.release_texture(self.texture)


# ---- What C calls. `self` is a handle that Python keeps alive. ----

alive = {}


@ffi.def_extern(error=ffi.NULL)
def applet_create():
    handle = ffi.new_handle(Waves())
    alive[handle] = handle
    return handle


@ffi.def_extern()
def applet_destroy(me):
    alive.pop(me, None)


@ffi.def_extern(error=False)
def applet_initialize(me, host):
    return ffi.from_handle(me).initialize(host)


@ffi.def_extern()
def applet_frame(me, info):
    ffi.from_handle(me).frame(info)


@ffi.def_extern()
def applet_cleanup(me):
    ffi.from_handle(me).cleanup()


texts = [ffi.new("char[]", text) for text in (
    b"org.example.waves", b"1.0.0", b"Waves", b"The same applet in Python and in C.", b"example",
    BRIDGE, WIDGETS)]
services = ffi.new("char *[]", texts[5:] + [ffi.NULL])
descriptor = ffi.new("CaliperAppletDescriptor *", {
    "struct_size": ffi.sizeof("CaliperAppletDescriptor"),
    "abi_epoch": 2,
    "id": texts[0], "version": texts[1], "name": texts[2], "summary": texts[3], "tag": texts[4],
    "required_services": services,
    "api": {"struct_size": ffi.sizeof("CaliperAppletAPI"),
            "create": lib.applet_create, "destroy": lib.applet_destroy,
            "initialize": lib.applet_initialize, "frame": lib.applet_frame,
            "cleanup": lib.applet_cleanup}})


@ffi.def_extern(error=ffi.NULL)
def caliper_applet_descriptor():
    return descriptor
