/** The compressor of answers: its bounds (S3), and responses whose clients leave while it works. */

import { gunzipSync } from "node:zlib";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { AnswerCompressor, isCompressible } from "../../src/edge/http/answer-sender.ts";
import { HttpResponder } from "../../src/edge/http/http-responder.ts";
import type { HttpReply } from "../../src/edge/http/reply.ts";
import type { RequestHead } from "../../src/edge/http/request-head.ts";
import type { TransportResponse } from "../../src/edge/transport/transport.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { UnsentBytes } from "../../src/runtime/unsent-bytes.ts";

const { compressed_length_min: lengthMin } = limits;
const headers = [["ETag", '"a"']] as const;
const replyOf = (body: HttpReply["body"]): HttpReply => ({ status: 200, body, headers });
const long = replyOf("x".repeat(lengthMin));

function compressed(
  compressor: AnswerCompressor,
  reply: HttpReply,
  accepted = "gzip",
): Promise<HttpReply | null> | null {
  let end: (later: HttpReply | null) => void = () => undefined;
  const later = new Promise<HttpReply | null>((resolve) => {
    end = resolve;
  });
  return compressor.begin(reply, accepted, end) === null ? null : later;
}

/** Resolves when all encoders are closed. */
async function untilEmpty(compressor: AnswerCompressor): Promise<void> {
  while (compressor.count > 0) await new Promise((resolve) => setImmediate(resolve));
}

t.test("[D262] an answer is compressed from compressed_length_min on, in whichever pieces it comes", async (t) => {
  const half = "x".repeat(lengthMin / 2);
  t.ok(isCompressible(long));
  t.ok(isCompressible(replyOf([half, Buffer.from(half)])));
  t.ok(isCompressible(replyOf(Buffer.alloc(lengthMin))));
  t.notOk(isCompressible(replyOf("x".repeat(lengthMin - 1))));
  t.notOk(isCompressible(replyOf([half, half.slice(1)])));
  t.notOk(isCompressible({ ...long, contentType: "text/html" }));
});

t.test("[D262] an answer of several blocks is whole", async (t) => {
  const pieces = Array.from({ length: 400 }, (_, index) => `${index} é ${"y".repeat(9_000)}`);
  const packed = await compressed(new AnswerCompressor(), replyOf([...pieces, Buffer.from("end")]));
  const bytes = gunzipSync(Buffer.concat((packed?.body ?? []) as Buffer[]));
  t.equal(bytes.toString(), `${pieces.join("")}end`);
  t.strictSame(packed?.headers, [
    ["ETag", 'W/"a"'],
    ["Content-Encoding", "gzip"],
  ]);
});

t.test("[S3] an answer beyond compressions_max or compression_bytes_max leaves as it is", async (t) => {
  for (const compressor of [new AnswerCompressor(2, 9 * lengthMin), new AnswerCompressor(9, 2 * lengthMin)]) {
    t.equal(compressed(compressor, long, "deflate"), null, "its client does not accept it");
    const first = compressed(compressor, long);
    const second = compressed(compressor, long);
    t.equal(compressor.count, 2);
    t.equal(compressed(compressor, long), null, "everything is used");
    t.ok(await first);
    t.ok(await second);
    await untilEmpty(compressor);
    t.ok(await compressed(compressor, long), "there is room again");
    await untilEmpty(compressor);
  }
  t.ok(limits.compressions_max < 4, "the pool has four threads, which flushes of LMDB and passwords need as well");
});

t.test("[S3] a client that leaves while its answer is compressed ends it once, and frees its memory", async (t) => {
  const compressor = new AnswerCompressor();
  const unsent = new UnsentBytes({ bytesMax: 1e9, shareBytesMax: 1e9, keptMsMin: 1000, monotonic: () => 0 });
  const calls: string[] = [];
  let abort: () => void = () => undefined;
  const named = (name: string) => () => calls.push(name);
  const response = {
    onAborted: (handler: () => void) => {
      abort = handler;
    },
    cork: named("cork"),
    tryEnd: named("tryEnd"),
    writeHeader: named("writeHeader"),
  } as unknown as TransportResponse;
  let ends = 0;
  const responder = new HttpResponder(response, { clock: systemClock, unsent, compressor }, () => ends++);
  responder.answer(replyOf("x".repeat(8_000_000)), { method: "GET", acceptEncoding: "br" } as RequestHead);
  t.equal(compressor.count, 1);
  abort();
  t.strictSame([ends, compressor.count], [1, 1], "a thread may still be inside zlib");
  await untilEmpty(compressor);
  t.strictSame([ends, calls], [1, []]);
});
