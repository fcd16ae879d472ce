# cmake -DINPUT=file -DOUTPUT=header -DNAME=symbol -P EmbedText.cmake
# Writes a header with the file as a NUL-terminated byte array.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)"
  "\\1\n" bytes "${bytes}")
get_filename_component(source ${INPUT} NAME)
file(WRITE ${OUTPUT} "/* Made from ${source}; edit that. */\nstatic const unsigned char ${NAME}[] = {\n${bytes}0x00};\n")
