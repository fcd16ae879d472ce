/* What our Arrow streams give, read by another implementation: Apache Arrow for JavaScript, with
 * arrow-js-ffi for the C data interface. Values are compared with literals.
 * Usage: node arrow_peer.mjs ARROW_IMAGE NODE_MODULES */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [program, modules] = process.argv.slice(2);
const require = createRequire(join(modules, "x.cjs"));
const arrow = require("apache-arrow");
const { parseRecordBatch, parseSchema } = await import(
    pathToFileURL(require.resolve("arrow-js-ffi")).href);
const folder = mkdtempSync(join(tmpdir(), "caliper-arrow-"));

function read(sql) {
    const path = join(folder, "image");
    execFileSync(program, [sql, path], { stdio: ["ignore", "inherit", "inherit"] });
    const bytes = readFileSync(path);
    const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    const view = new DataView(buffer);
    const schema = view.getUint32(0, true);
    const batches = [];
    for (let i = 0; i < view.getUint32(4, true); i++)
        batches.push(parseRecordBatch(buffer, view.getUint32(8 + 4 * i, true), schema, true));
    return { fields: parseSchema(buffer, schema).fields, batches };
}

/* Plain JavaScript values: lists as arrays, structs as objects, maps as arrays of pairs. */
function plain(value) {
    if (value === null || value === undefined)
        return null;
    if (value instanceof arrow.Vector)
        return [...value].map(plain);
    if (value instanceof arrow.MapRow)
        return [...value].map(([k, v]) => [plain(k), plain(v)]);
    if (value instanceof arrow.StructRow)
        return Object.fromEntries([...value].map(([k, v]) => [k, plain(v)]));
    if (ArrayBuffer.isView(value))
        return Array.from(value);
    return value;
}

function column(sql) {
    const { fields, batches } = read(sql);
    const values = batches.flatMap((batch) => [...batch.getChildAt(0)].map(plain));
    return { type: String(fields[0].type), values };
}

let checked = 0;
function same(sql, type, values) {
    const got = column(sql);
    assert.deepEqual(got, { type, values }, sql);
    checked++;
}

const two = (value) => `SELECT * FROM (VALUES (${value}), (NULL)) v(x)`;
same(two("true"), "Bool", [true, null]);
same(two("(-128)::TINYINT"), "Int8", [-128, null]);
same(two("65535::USMALLINT"), "Uint16", [65535, null]);
same(two("(-2147483648)::INT"), "Int32", [-2147483648, null]);
same(two("9007199254740993::BIGINT"), "Int64", [9007199254740993n, null]);
same(two("18446744073709551615::UBIGINT"), "Uint64", [18446744073709551615n, null]);
same(two("1.5::FLOAT"), "Float32", [1.5, null]);
same(two("1e300::DOUBLE"), "Float64", [1e300, null]);
same(two("'nan'::DOUBLE"), "Float64", [NaN, null]);
same(two("'é 漢 🙂 and more than twelve bytes'"), "Utf8",
     ["é 漢 🙂 and more than twelve bytes", null]);
same(two("''"), "Utf8", ["", null]);
same(two("'\\x00\\xFF'::BLOB"), "Binary", [[0, 255], null]);
same(two("DATE '1970-01-02'"), "Date32<DAY>", [86400000, null]);
same(two("TIMESTAMP_S '1970-01-01 00:00:02'"), "Timestamp<SECOND>", [2000, null]);
same(two("TIMESTAMP_MS '1970-01-01 00:00:00.003'"), "Timestamp<MILLISECOND>", [3, null]);
same(two("TIMESTAMP '1970-01-01 00:00:00.004'"), "Timestamp<MICROSECOND>", [4, null]);
same(two("TIME '00:00:03'"), "Time64<MICROSECOND>", [3000000n, null]);
same(two("[1, NULL, 3]"), "List<Int32>", [[1, null, 3], null]);
same(two("[['a', ''], [], NULL]"), "List<List<Utf8>>", [[["a", ""], [], null], null]);
same(two("[1, NULL]::INT[2]"), "FixedSizeList[2]<Int32>", [[1, null], null]);
same(two("{'n': 7, 's': NULL, 'l': [1]}"), "Struct<{n:Int32, s:Int32, l:List<Int32>}>",
     [{ n: 7, s: null, l: [1] }, null]);
same("SELECT map {'k': 1, 'l': 2} AS x", "Map<{key:Utf8, value:Int32}>",
     [[["k", 1], ["l", 2]]]);

/* Many batches, validity at every position of a byte. */
const many = column("SELECT CASE WHEN range % 7 <> 3 THEN range * 3 END AS v FROM range(10000)");
assert.equal(many.values.length, 10000);
many.values.forEach((value, i) => assert.equal(value, i % 7 === 3 ? null : BigInt(i * 3)));
const texts = column("SELECT repeat('é', (range % 40)::INT) FROM range(5000)");
texts.values.forEach((value, i) => assert.equal(value, "é".repeat(i % 40)));
assert.equal(column("SELECT 1 AS x WHERE false").values.length, 0);

rmSync(folder, { recursive: true });
const version = (name) =>
    JSON.parse(readFileSync(join(modules, "node_modules", name, "package.json"))).version;
console.log(`${checked} types and ${many.values.length + texts.values.length} rows read by ` +
            `apache-arrow ${version("apache-arrow")} with arrow-js-ffi ${version("arrow-js-ffi")}`);
