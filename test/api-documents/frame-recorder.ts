/** Records a session on the WebSocket: one frame of each kind and each reply, for the examples of the AsyncAPI document. */
import type { FrameExamples } from "../../src/api-documents/examples.ts";
import type { Client } from "../support/client.ts";
import { type Frame, Socket } from "../support/socket.ts";

type Fields = Readonly<Record<string, unknown>>;

class FrameRecorder {
  readonly examples = new Map<string, Fields>();
  readonly #socket: Socket;
  readonly #cleaned: (text: string) => string;

  constructor(socket: Socket, cleaned: (text: string) => string) {
    this.#socket = socket;
    this.#cleaned = cleaned;
  }

  /** The first frame of a message is its example. */
  keep(message: string, frame: Fields): void {
    if (!this.examples.has(message)) this.examples.set(message, JSON.parse(this.#cleaned(JSON.stringify(frame))));
  }

  /** @param reply the message of the reply */
  async ask(frame: Fields & { readonly type: string }, reply: string, message = frame.type): Promise<Frame> {
    const sent = { ref: `${reply}-1`, ...frame };
    if (message !== "") this.keep(message, sent);
    const received = this.#socket.frame((candidate: Frame) => candidate.ref === sent.ref);
    this.#socket.send(sent);
    this.keep(reply, await received);
    return received;
  }

  send(frame: Fields & { readonly type: string }): void {
    this.keep(frame.type, frame);
    this.#socket.send(frame);
  }
}

async function opened(client: Client): Promise<Socket> {
  const socket = new Socket(client.url);
  await socket.opened();
  return socket;
}

/** @param channelId a channel of the caller */
export async function recordFrames(
  client: Client,
  { channelId, cleaned }: { readonly channelId: number; readonly cleaned: (text: string) => string },
): Promise<FrameExamples> {
  const { email, key: api_key } = client.account ?? { email: "", key: "" };
  const login = { type: "authenticate", email, api_key };
  const post = (content: string) =>
    client.post("/messages", { type: "channel", to: channelId, topic: "lunch", content });
  const first = await opened(client);
  const recorder = new FrameRecorder(first, cleaned);
  await recorder.ask(login, "authenticateReply");
  const queue = await recorder.ask(
    { type: "register", event_types: ["message"], fetch_event_types: ["realm_linkifiers"] },
    "registerReply",
  );
  await recorder.ask({ type: "presence", status: "active", ping_only: true }, "presenceReply");
  const typing = { op: "start", message_type: "channel", stream_id: channelId, topic: "lunch" };
  await recorder.ask({ type: "typing", ...typing }, "typingReply");
  await recorder.ask({ type: "ping" }, "pong");
  await recorder.ask({ type: "resume", queue_id: "0123456789ab-x", last_event_id: -1 }, "rejection", "");
  const { body } = await post("Soup is **ready**");
  const reaction = { method: "POST", path: `/messages/${body.id}/reactions`, params: { emoji_name: "tada" } };
  await recorder.ask({ type: "call", ...reaction, idempotency_key: "tada-1" }, "callReply");
  const { id: seen } = await first.event((event: Frame) => event.type === "message");
  recorder.keep("event", await first.frame((frame: Frame) => frame.type === "event"));
  recorder.send({ type: "ack", last_event_id: seen });
  first.close();
  await first.closed;
  for (const content of ["And bread", "For everybody"]) await post(content);
  const second = await opened(client);
  const resuming = new FrameRecorder(second, cleaned);
  await resuming.ask(login, "authenticateReply");
  await resuming.ask({ type: "resume", queue_id: queue.queue_id, last_event_id: seen }, "resumeReply");
  resuming.keep("events", await second.frame((frame: Frame) => frame.type === "events"));
  second.close();
  await second.closed;
  return Object.fromEntries([...resuming.examples, ...recorder.examples]);
}
