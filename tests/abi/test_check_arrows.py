#!/usr/bin/env python3
"""Tries check_arrows on small trees: a clean one, and one planted violation at a time.

Each case adds files to the clean tree and says what the check must print. A case without a wanted
text is one that must pass. Then two matrices: every folder including from every folder, and every
folder including every foreign API. Exit status 1 if anything is judged wrongly.
"""
import os
import subprocess
import sys
import tempfile

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_arrows")

CLEAN = {
    "src/main.c": '#include "cli/cli.h"\n#include "shell/shell.h"\n#include <stdio.h>\n',
    "src/cli/cli.h": "int cli_main(void);\n",
    "src/cli/cli.c": '#include "cli/cli.h"\n#include "shell/shell.h"\n#include "store/store.h"\n'
                     '#include "formats/array.h"\n',
    "src/shell/shell.h": '#include "services/log_service.h"\n',
    "src/shell/window.c": '#define GLFW_INCLUDE_NONE\n#include <GLFW/glfw3.h>\n#include "shell.h"\n'
                          '#include "render/renderer.h"\n',
    "src/shell/shim.cpp": '#include <imgui.h>\n#include <imgui_internal.h>\n',
    "src/services/log_service.h": '#include <caliper/abi.h>\n#include "core/log.h"\n',
    "src/services/ui_imgui.h": "#include <imgui.h>\n",
    "src/services/widgets_text.cpp": '#include "services/ui_imgui.h"\n',
    "src/services/bridge_service.c": '#include "bridge/bridge.h"\n#include "store/store.h"\n'
                                     '#include "cuda/cuda_device.h"\n',
    "src/bridge/bridge.h": '#include <caliper/abi.h>\n#include "render/renderer.h"\n',
    "src/bridge/gate.c": '#include "bridge.h"\n#include "kernels/kernels.h"\n'
                         '#include "core/log.h"\n',
    "src/render/renderer.h": "#include <stdint.h>\n",
    "src/render/renderer_impl.h": '#include "render/renderer.h"\n',
    "src/render/choose.c": '#include "render/gl/gl_backend.h"\n#include "renderer_impl.h"\n',
    "src/render/gl/gl_backend.h": "extern int gl_backend;\n",
    "src/render/gl/gl_api.h": "#include <epoxy/gl.h>\n#include <epoxy/egl.h>\n",
    "src/render/gl/gl_context.c": '#include "gl_api.h"\n#include "render/gl/gl_backend.h"\n',
    "src/render/vulkan/vk_device.c": '#include <volk.h>\n#include "cuda/cuda_device.h"\n'
                                     '#include "render/vulkan/passes_spv.h"\n',
    "src/render/vulkan/CMakeLists.txt": "set(x ${CMAKE_BINARY_DIR}/generated/render/vulkan/y.h)\n",
    "src/cuda/cuda_device.h": '#include "core/log.h"\n',
    "src/cuda/cuda_device.c": '#include "cuda/cuda_device.h"\n#include <cuda.h>\n',
    "src/store/store.h": '#include "core/log.h"\n#include <caliper/abi.h>\n',
    "src/store/store.c": '#include <duckdb.h>\n#include "store.h"\n',
    "src/kernels/kernels.h": "#include <stddef.h>\n",
    "src/kernels/scalar.c": '#include "kernels/kernels.h"\n#include "core/log.h"\n',
    "src/core/log.h": '#include "core/log_items.def"\n',
    "src/core/log_items.def": "/* #include <imgui.h> */\n// #include \"shell/shell.h\"\n",
    "src/core/log.c": '#include "core/log.h"\nconst char *text = "\\n#include <imgui.h>\\n";\n',
    "formats/array.h": "#include <stdint.h>\n",
    "formats/array.c": '#include "formats/array.h"\n#include <zlib.h>\n#include <fcntl.h>\n',
    "include/caliper/abi.h": "#include <stdint.h>\n",
    "include/caliper/adapters/torch.hpp": "#include <caliper/abi.h>\n#include <torch/torch.h>\n",
    "applets/view/app.c": '#include <caliper/abi.h>\n#include <math.h>\n#include "own.h"\n'
                          '#include "formats/array.h"\n',
    "applets/view/own.h": "#include <stdbool.h>\n",
    "applets/view/CMakeLists.txt": "caliper_builtin_applet(view SOURCES app.c LIBS formats)\n",
}

# (what, {file: text}, wanted line, or None when it must pass); a text of the form ("link", to)
# makes a symbolic link.
CASES = [
    ("a clean tree", {}, None),
    ("torch in an applet's model", {"applets/view/model.cpp": "#include <torch/torch.h>\n"}, None),

    # One per forbidden arrow.
    ("core uses render", {"src/core/a.c": '#include "render/renderer.h"\n'},
     "src/core/a.c:1: arrow: core must not include src/render/renderer.h"),
    ("core uses services", {"src/core/a.c": '#include "services/log_service.h"\n'},
     "src/core/a.c:1: arrow: core must not include src/services/log_service.h"),
    ("core uses kernels", {"src/core/a.c": '#include "kernels/kernels.h"\n'},
     "src/core/a.c:1: arrow: core must not include src/kernels/kernels.h"),
    ("kernels use render", {"src/kernels/a.c": '#include "render/renderer.h"\n'},
     "src/kernels/a.c:1: arrow: kernels must not include src/render/renderer.h"),
    ("store uses shell", {"src/store/a.c": '#include "shell/shell.h"\n'},
     "src/store/a.c:1: arrow: store must not include src/shell/shell.h"),
    ("store uses bridge", {"src/store/a.c": '#include "bridge/bridge.h"\n'},
     "src/store/a.c:1: arrow: store must not include src/bridge/bridge.h"),
    ("bridge uses store", {"src/bridge/a.c": '#include "store/store.h"\n'},
     "src/bridge/a.c:1: arrow: bridge must not include src/store/store.h"),
    ("bridge uses shell", {"src/bridge/a.c": '\n\n#include "shell/shell.h"\n'},
     "src/bridge/a.c:3: arrow: bridge must not include src/shell/shell.h"),
    ("bridge uses services", {"src/bridge/a.h": '#include "services/log_service.h"\n'},
     "src/bridge/a.h:1: arrow: bridge must not include src/services/log_service.h"),
    ("render uses bridge", {"src/render/a.c": '#include "bridge/bridge.h"\n'},
     "src/render/a.c:1: arrow: render must not include src/bridge/bridge.h"),
    ("render uses shell", {"src/render/gl/a.c": '#include "shell/shell.h"\n'},
     "src/render/gl/a.c:1: arrow: render must not include src/shell/shell.h"),
    ("cuda uses render", {"src/cuda/a.c": '#include "render/renderer.h"\n'},
     "src/cuda/a.c:1: arrow: cuda must not include src/render/renderer.h"),
    ("services use shell", {"src/services/a.c": '#include "shell/shell.h"\n'},
     "src/services/a.c:1: arrow: services must not include src/shell/shell.h"),
    ("shell uses cli", {"src/shell/a.c": '#include "cli/cli.h"\n'},
     "src/shell/a.c:1: arrow: shell must not include src/cli/cli.h"),
    ("services use cli", {"src/services/a.c": '#include "cli/cli.h"\n'},
     "src/services/a.c:1: arrow: services must not include src/cli/cli.h"),
    ("bridge uses formats", {"src/bridge/a.c": '#include "formats/array.h"\n'},
     "src/bridge/a.c:1: arrow: bridge must not include formats/array.h"),
    ("formats use src", {"formats/a.c": '#include "core/log.h"\n'},
     "formats/a.c:1: arrow: formats must not include src/core/log.h"),
    ("datasets use formats", {"datasets/a.c": '#include "formats/array.h"\n'},
     "datasets/a.c:1: arrow: datasets must not include formats/array.h"),
    ("formats use the SDK", {"formats/a.c": "#include <caliper/abi.h>\n"},
     "formats/a.c:1: arrow: formats must not include include/caliper/abi.h"),
    ("the SDK uses src", {"include/caliper/a.h": '#include "core/log.h"\n'},
     "include/caliper/a.h:1: arrow: sdk must not include src/core/log.h"),
    ("the SDK uses POSIX", {"include/caliper/a.h": "#include <pthread.h>\n"},
     "include/caliper/a.h:1: sdk: <pthread.h> is not standard"),
    ("src uses tests", {"src/core/a.c": '#include "tests/a.h"\n', "tests/a.h": ""},
     "src/core/a.c:1: arrow: core must not include tests/a.h"),
    ("a folder nobody knows", {"src/misc/a.c": "#include <stdio.h>\n"},
     "src/misc/a.c:1: folder: not in a folder that the arrows know"),
    ("an implementer's header outside", {"src/bridge/a.c": '#include "render/renderer_impl.h"\n'},
     "src/bridge/a.c:1: implementer: src/render/renderer_impl.h is not for bridge"),

    # Foreign APIs.
    ("imgui in the bridge", {"src/bridge/a.c": "#include <imgui.h>\n"},
     "src/bridge/a.c:1: foreign: <imgui.h> is imgui"),
    ("imgui in another service", {"src/services/log_service.c": '#include "imgui.h"\n'},
     'src/services/log_service.c:1: foreign: "imgui.h" is imgui'),
    ("implot in cli", {"src/cli/a.cpp": "#include <implot.h>\n"},
     "src/cli/a.cpp:1: foreign: <implot.h> is imgui"),
    ("GL in the shell", {"src/shell/a.c": "#include <GL/gl.h>\n"},
     "src/shell/a.c:1: foreign: <GL/gl.h> is opengl"),
    ("epoxy in render itself", {"src/render/a.c": "#include <epoxy/gl.h>\n"},
     "src/render/a.c:1: foreign: <epoxy/gl.h> is opengl"),
    ("EGL in the bridge", {"src/bridge/a.c": "#include <EGL/egl.h>\n"},
     "src/bridge/a.c:1: foreign: <EGL/egl.h> is opengl"),
    ("Vulkan in the GL backend", {"src/render/gl/a.c": "#include <vulkan/vulkan.h>\n"},
     "src/render/gl/a.c:1: foreign: <vulkan/vulkan.h> is vulkan"),
    ("volk in the shell", {"src/shell/a.c": "#include <volk.h>\n"},
     "src/shell/a.c:1: foreign: <volk.h> is vulkan"),
    ("GL in the cpu backend", {"src/render/cpu/a.c": "#include <GLES3/gl3.h>\n"},
     "src/render/cpu/a.c:1: foreign: <GLES3/gl3.h> is opengl"),
    ("GLFW in render", {"src/render/gl/a.c": "#include <GLFW/glfw3.h>\n"},
     "src/render/gl/a.c:1: foreign: <GLFW/glfw3.h> is glfw"),
    ("GLFW that brings GL", {"src/shell/a.c": "#include <GLFW/glfw3.h>\n"},
     "src/shell/a.c:1: foreign: GLFW without GLFW_INCLUDE_NONE brings opengl"),
    ("GLFW that brings Vulkan",
     {"src/shell/a.c": "#define GLFW_INCLUDE_VULKAN\n#include <GLFW/glfw3.h>\n"},
     "src/shell/a.c:2: foreign: GLFW is asked for a graphics header"),
    ("CUDA in the Vulkan backend", {"src/render/vulkan/a.c": "#include <cuda.h>\n"},
     "src/render/vulkan/a.c:1: foreign: <cuda.h> is cuda"),
    ("the CUDA runtime in services", {"src/services/a.c": "#include <cuda_runtime_api.h>\n"},
     "src/services/a.c:1: foreign: <cuda_runtime_api.h> is cuda"),
    ("torch in an applet's other files", {"applets/view/panel.cpp": "#include <torch/torch.h>\n"},
     "applets/view/panel.cpp:1: foreign: <torch/torch.h> is torch"),
    ("torch in a model below an applet's folder",
     {"applets/view/net/model.cpp": "#include <torch/torch.h>\n"},
     "applets/view/net/model.cpp:1: foreign: <torch/torch.h> is torch"),
    ("torch in the host", {"src/cuda/a.cpp": "#include <torch/torch.h>\n"},
     "src/cuda/a.cpp:1: foreign: <torch/torch.h> is torch"),
    ("ATen through the SDK's adapter",
     {"src/bridge/a.cpp": "#include <caliper/adapters/torch.hpp>\n"},
     "src/bridge/a.cpp:1: foreign: <torch/torch.h> is torch through src/bridge/a.cpp:1 -> "
     "include/caliper/adapters/torch.hpp"),

    # Through a third file.
    ("a service that gets imgui through ui_imgui.h",
     {"src/services/a.c": '#include "services/ui_imgui.h"\n'},
     "src/services/a.c:1: foreign: <imgui.h> is imgui through src/services/a.c:1 -> "
     "src/services/ui_imgui.h"),
    ("render that gets GL through its backend",
     {"src/render/a.c": '#include "render/gl/gl_api.h"\n'},
     "src/render/a.c:1: foreign: <epoxy/gl.h> is opengl through src/render/a.c:1 -> "
     "src/render/gl/gl_api.h"),
    ("two steps to the shell",
     {"src/bridge/a.c": '#include <stdio.h>\n#include "core/b.h"\n',
      "src/core/b.h": '#include "core/c.h"\n', "src/core/c.h": '#include "shell/shell.h"\n'},
     "src/bridge/a.c:2: arrow: bridge must not include src/shell/shell.h through "
     "src/bridge/a.c:2 -> src/core/b.h -> src/core/b.h:1 -> src/core/c.h"),
    ("through a file without a C ending",
     {"src/bridge/a.c": '#include "list.txt"\n',
      "src/bridge/list.txt": '#include "shell/shell.h"\n'},
     "src/bridge/a.c:1: arrow: bridge must not include src/shell/shell.h through "
     "src/bridge/a.c:1 -> src/bridge/list.txt"),
    ("through a folder nobody knows",
     {"src/bridge/a.c": '#include "misc/b.h"\n', "src/misc/b.h": ""},
     "src/bridge/a.c:1: arrow: bridge must not include src/misc/b.h"),

    # Ways around.
    ("a macro", {"src/bridge/a.c": '#define WHAT "shell/shell.h"\n#include WHAT\n'},
     "src/bridge/a.c:2: unreadable: macro include WHAT"),
    ("a macro with arguments", {"src/core/a.c": "#define H(x) <x>\n#include H(imgui.h)\n"},
     "src/core/a.c:2: unreadable: macro include H(imgui.h)"),
    ("include_next", {"src/bridge/a.c": "#include_next <imgui.h>\n"},
     "src/bridge/a.c:1: unreadable: include_next <imgui.h>"),
    ("import", {"src/bridge/a.c": '#import "shell/shell.h"\n'},
     "src/bridge/a.c:1: arrow: bridge must not include src/shell/shell.h"),
    ("a module", {"src/bridge/a.cpp": "import <vector>;\n"},
     "src/bridge/a.cpp:1: unreadable: module import import <vector>"),
    ("__has_include", {"src/core/a.c": "#if defined(X) && __has_include(<imgui.h>)\n#endif\n"},
     "src/core/a.c:1: foreign: <imgui.h> is imgui"),
    ("__has_include of a macro", {"src/core/a.c": "#if __has_include(WHAT)\n#endif\n"},
     "src/core/a.c:1: unreadable: macro include WHAT"),
    ("a branch that is off", {"src/core/a.c": "#if 0\n#include <imgui.h>\n#endif\n"},
     "src/core/a.c:2: foreign: <imgui.h> is imgui"),
    ("a line joined", {"src/bridge/a.c": '#inc\\\nlude "shell/shell.h"\n'},
     "src/bridge/a.c:1: arrow: bridge must not include src/shell/shell.h"),
    ("a trigraph", {"src/bridge/a.c": '??=include "shell/shell.h"\n'},
     "src/bridge/a.c:1: arrow: bridge must not include src/shell/shell.h"),
    ("a digraph", {"src/bridge/a.c": '  %:  include "shell/shell.h"\n'},
     "src/bridge/a.c:1: arrow: bridge must not include src/shell/shell.h"),
    ("comments between",
     {"src/bridge/a.c": '/* a */ # /* b */ include /* c */ "shell/shell.h" // d\n'},
     "src/bridge/a.c:1: arrow: bridge must not include src/shell/shell.h"),
    ("a comment that a string seems to open",
     {"src/bridge/a.c": 'const char *a = "/*";\n#include "shell/shell.h"\nconst char *b = "*/";\n'},
     "src/bridge/a.c:2: arrow: bridge must not include src/shell/shell.h"),
    ("a raw string in C is none",
     {"src/bridge/a.c": '#define R\nconst char *a = R"(";\n#include "shell/shell.h"\n'
                        'const char *b = ")";\n'},
     "src/bridge/a.c:3: arrow: bridge must not include src/shell/shell.h"),
    ("two slashes in a name", {"src/core/a.c": "#include <GL//gl.h>\n"},
     "src/core/a.c:1: unreadable: macro include <GL"),
    ("a relative path", {"src/bridge/a.c": '#include "../shell/shell.h"\n'},
     "src/bridge/a.c:1: arrow: bridge must not include src/shell/shell.h"),
    ("a relative path in brackets", {"src/core/a.c": "#include <../include/GL/gl.h>\n"},
     "src/core/a.c:1: foreign: <../include/GL/gl.h> is opengl"),
    ("an absolute path", {"src/core/a.c": '#include "/usr/include/imgui/imgui.h"\n'},
     'src/core/a.c:1: foreign: "/usr/include/imgui/imgui.h" is imgui'),
    ("brackets for a project file", {"src/bridge/a.c": "#include <shell/shell.h>\n"},
     "src/bridge/a.c:1: arrow: bridge must not include src/shell/shell.h"),
    ("from the root", {"src/bridge/a.c": '#include "src/shell/shell.h"\n'},
     "src/bridge/a.c:1: arrow: bridge must not include src/shell/shell.h"),
    ("another case", {"src/bridge/a.c": '#include "Shell/Shell.h"\n'},
     'src/bridge/a.c:1: nowhere: "Shell/Shell.h" is no file of the project'),
    ("another case in brackets", {"src/bridge/a.c": "#include <Shell/Shell.h>\n"},
     "src/bridge/a.c:1: nowhere: <Shell/Shell.h> looks like the project's and is not"),
    ("another case of a foreign name", {"src/core/a.c": "#include <ImGui.H>\n"},
     "src/core/a.c:1: foreign: <ImGui.H> is imgui"),
    ("a bare name found by a search path", {"src/bridge/a.c": '#include "shell.h"\n'},
     'src/bridge/a.c:1: nowhere: "shell.h" is no file of the project'),
    ("a link to a file", {"src/bridge/a.h": ("link", "../shell/shell.h")},
     "src/bridge/a.h:1: link: links hide where a file is"),
    ("a link to a folder", {"src/bridge/sub": ("link", "../shell")},
     "src/bridge/sub:1: link: links hide where a file is"),
    ("an include through a link",
     {"src/bridge/a.c": '#include "caliper2/shell.h"\n',
      "src/bridge/caliper2": ("link", "../shell")},
     "src/bridge/a.c:1: arrow: bridge must not include src/shell/shell.h"),
    ("a forced include", {"src/bridge/CMakeLists.txt":
                          "target_compile_options(libcaliper PRIVATE -include shell/shell.h)\n"},
     "src/bridge/CMakeLists.txt:1: build: forces an include"),
    ("a generated header nobody makes", {"src/bridge/a.c": '#include "bridge/made.h"\n'},
     'src/bridge/a.c:1: nowhere: "bridge/made.h" is no file of the project'),
    ("another folder's generated header", {"src/bridge/a.c": '#include "shell/made.h"\n',
                                           "src/shell/CMakeLists.txt": "generated/shell/made.h\n"},
     'src/bridge/a.c:1: nowhere: "shell/made.h" is no file of the project'),
    ("a generated header of its own folder",
     {"src/bridge/a.c": '#include "bridge/made.h"\n',
      "src/bridge/CMakeLists.txt": "generated/bridge/made.h\n"},
     None),

    # Applets.
    ("an applet with a host-internal header", {"applets/view/a.c": '#include "core/log.h"\n'},
     "applets/view/a.c:1: arrow: applets/view must not include src/core/log.h"),
    ("an applet by a relative path", {"applets/view/a.c": '#include "../../src/core/log.h"\n'},
     "applets/view/a.c:1: arrow: applets/view must not include src/core/log.h"),
    ("an applet with GL", {"applets/view/a.c": "#include <GL/gl.h>\n"},
     "applets/view/a.c:1: foreign: <GL/gl.h> is opengl"),
    ("an applet with imgui", {"applets/view/a.cpp": "#include <imgui.h>\n"},
     "applets/view/a.cpp:1: foreign: <imgui.h> is imgui"),
    ("an applet with a toolkit", {"applets/view/a.c": "#include <gtk/gtk.h>\n"},
     "applets/view/a.c:1: foreign: <gtk/gtk.h> is sdl"),
    ("an applet with POSIX",
     {"applets/view/a.c": "#include <pthread.h>\n#include <unistd.h>\n#include <sys/stat.h>\n"},
     None),
    ("the SDK with POSIX", {"include/caliper/a.h": "#include <pthread.h>\n"},
     "include/caliper/a.h:1: sdk: <pthread.h> is not standard"),
    ("an applet with a system header that is not POSIX",
     {"applets/view/a.c": "#include <linux/fb.h>\n"},
     "applets/view/a.c:1: applet: <linux/fb.h> is not the SDK, formats/, standard or POSIX"),
    ("an applet with a header named as one of POSIX, elsewhere",
     {"applets/view/a.c": "#include <X11/unistd.h>\n"},
     "applets/view/a.c:1: foreign: <X11/unistd.h> is sdl"),
    ("an applet that gets imgui through its own header",
     {"applets/view/a.c": '#include "b.h"\n', "applets/view/b.h": "#include <imgui.h>\n"},
     "applets/view/a.c:1: foreign: <imgui.h> is imgui through applets/view/a.c:1 -> "
     "applets/view/b.h"),
    ("an applet with another applet's header",
     {"applets/view/a.c": '#include "../other/b.h"\n', "applets/other/b.h": ""},
     "applets/view/a.c:1: arrow: applets/view must not include applets/other/b.h"),
    ("an applet by a macro", {"applets/view/a.c": "#include HEADER\n"},
     "applets/view/a.c:1: unreadable: macro include HEADER"),
    ("an applet that links the host's library",
     {"applets/view/CMakeLists.txt": "caliper_builtin_applet(view SOURCES a.c LIBS libcaliper)\n"},
     "applets/view/CMakeLists.txt:1: build: reaches past the SDK"),
    ("an applet that searches src",
     {"applets/view/CMakeLists.txt":
      "target_include_directories(x PRIVATE ${PROJECT_SOURCE_DIR}/src)\n"},
     "applets/view/CMakeLists.txt:1: build: reaches past the SDK"),
]


# Who may include from whom, written out in full: part, its folder, and the parts it may use.
EVERYTHING_BELOW_MAIN = "cli shell services bridge render cuda store jobs core kernels formats datasets sdk"
ALLOWED = {
    "main": ("src", EVERYTHING_BELOW_MAIN),
    "cli": ("src/cli",
            "shell services bridge render cuda store jobs core kernels formats datasets sdk"),
    "shell": ("src/shell", "services bridge render cuda store jobs core kernels formats sdk"),
    "services": ("src/services", "bridge render cuda store jobs core kernels sdk"),
    "bridge": ("src/bridge", "render cuda core kernels sdk"),
    "render": ("src/render", "cuda core kernels sdk"),
    "cuda": ("src/cuda", "core kernels sdk"),
    "store": ("src/store", "core kernels sdk"),
    "jobs": ("src/jobs", "core kernels sdk"),
    "kernels": ("src/kernels", "core sdk"),
    "core": ("src/core", "sdk"),
    "formats": ("formats", ""),
    "datasets": ("datasets", ""),
    "sdk": ("include/caliper", ""),
    "applet": ("applets/view", "formats datasets sdk"),
    "another applet": ("applets/other", "formats datasets sdk"),
}

# Headers of foreign APIs, and the places from which they may be included.
FOREIGN = {
    "imgui.h": "src/shell src/services/ui src/services/widgets",
    "implot.h": "src/shell src/services/ui src/services/widgets",
    "GL/gl.h": "src/render/gl", "epoxy/gl.h": "src/render/gl", "EGL/egl.h": "src/render/gl",
    "vulkan/vulkan.h": "src/render/vulkan", "volk.h": "src/render/vulkan",
    "Metal/Metal.h": "src/render/metal",
    "GLFW/glfw3.h": "src/shell",
    "cuda.h": "src/cuda include/caliper/adapters",
    "cuda_runtime.h": "src/cuda include/caliper/adapters",
    "cudaGL.h": "src/cuda include/caliper/adapters",
    "torch/torch.h": "include/caliper/adapters", "ATen/ATen.h": "include/caliper/adapters",
    "c10/core/Device.h": "include/caliper/adapters",
    "d3d12.h": "",
}
PLACES = ["src", "src/cli", "src/shell", "src/services", "src/services/ui", "src/services/widgets",
          "src/bridge", "src/render", "src/render/cpu", "src/render/gl", "src/render/vulkan",
          "src/render/metal", "src/cuda", "src/store", "src/jobs", "src/core", "src/kernels", "formats", "datasets",
          "include/caliper", "include/caliper/adapters", "applets/view"]


def refused_files(root):
    result = subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True,
                            check=False)
    return {line.split(":")[0] for line in result.stdout.splitlines() if ": " in line}


def judge_arrow_matrix():
    """Every part includes a header of every part, in one tree; answers what was judged wrongly."""
    files, wanted = {}, {}
    for part, (folder, _) in ALLOWED.items():
        files["%s/target_of_%s.h" % (folder, part.replace(" ", "_"))] = ""
    for part, (folder, allowed) in ALLOWED.items():
        for other, (other_folder, _) in ALLOWED.items():
            name = "%s/from_%s.c" % (folder, other.replace(" ", "_"))
            up = "../" * len(folder.split("/"))
            files[name] = '#include "%s%s/target_of_%s.h"\n' % (up, other_folder,
                                                                other.replace(" ", "_"))
            wanted[name] = part == other or other in allowed.split()
    with tempfile.TemporaryDirectory() as root:
        plant(root, files)
        refused = refused_files(root)
    return ["%s: %s" % (name, "must pass" if good else "must be refused")
            for name, good in wanted.items() if good != (name not in refused)], len(wanted)


def judge_foreign_matrix():
    """Every place includes every foreign header, in one tree; answers what was judged wrongly."""
    files, wanted = {"src/shell/CMakeLists.txt": "GLFW_INCLUDE_NONE\n"}, {}
    for place in PLACES:
        for number, (header, allowed) in enumerate(FOREIGN.items()):
            # services/ui* and services/widgets* are files; all other places are folders.
            apart = "_" if place.startswith("src/services/") else "/"
            name = "%s%sforeign%d.c" % (place, apart, number)
            files[name] = "#include <%s>\n" % header
            wanted[name] = place in allowed.split()
    with tempfile.TemporaryDirectory() as root:
        plant(root, files)
        refused = refused_files(root)
    return ["%s: %s %s" % (name, files[name].strip(), "must pass" if good else "must be refused")
            for name, good in wanted.items() if good != (name not in refused)], len(wanted)


def plant(root, files):
    for name, text in files.items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if isinstance(text, tuple):
            os.symlink(text[1], path)
            continue
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def judge(what, files, wanted):
    """Runs one case; answers what is wrong with the verdict, or None."""
    with tempfile.TemporaryDirectory() as root:
        plant(root, {**CLEAN, **files})
        result = subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True,
                                check=False)
    output = result.stdout + result.stderr
    if wanted is None:
        return None if result.returncode == 0 else "must pass, but: " + output
    if result.returncode != 1:
        return "exit status %d, wanted 1: %s" % (result.returncode, output)
    if not any(line.startswith(wanted) for line in output.splitlines()):
        return "wanted '%s', got: %s" % (wanted, output)
    return None


def main():
    wrong = 0
    for what, files, wanted in CASES:
        trouble = judge(what, files, wanted)
        if trouble is not None:
            wrong += 1
            print("WRONG %s: %s" % (what, trouble))
    for judge_matrix in (judge_arrow_matrix, judge_foreign_matrix):
        misjudged, pairs = judge_matrix()
        for line in misjudged:
            print("WRONG " + line)
        wrong += len(misjudged)
        print("%s: %d pairs, %d judged wrongly" % (judge_matrix.__name__, pairs, len(misjudged)))
    passing = sum(1 for case in CASES if case[2] is None)
    print("%d planted violations and %d clean trees, %d judged wrongly"
          % (len(CASES) - passing, passing, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
