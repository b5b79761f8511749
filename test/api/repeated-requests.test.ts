/** Each operation that changes something, sent again under its Idempotency-Key (D25): one change, and one answer. */
import t from "tap";
import type { Endpoint } from "../../schemas/endpoint.ts";
import { playAll } from "../api-documents/plays.ts";
import { Recorder, type Sent } from "../api-documents/recorder.ts";
import { type Answer, type Client, type Event, outcome, type Params } from "../support/client.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { startTestServer } from "../support/server.ts";

const volatile: ReadonlySet<string> = new Set(["presence", "typing", "typing_edit_message", "heartbeat"]);

/** Answers with keys are not stored, queues are not durable, and some callers cannot ask again. */
const answeredAnew = [
  "create-bot",
  "deactivate-own-user",
  "delete-queue",
  "fetch-api-key",
  "log-out",
  "regenerate-bot-api-key",
  "regenerate-own-api-key",
  "register-queue",
];

class Repeater extends Recorder {
  /** Operations whose repeat was answered otherwise, or changed something. */
  readonly otherwise = new Set<string>();
  readonly changing = new Set<string>();
  readonly repeated = new Set<string>();
  readonly #again: (() => Promise<void>)[] = [];
  readonly #owner: Client;
  readonly #hasKeys: boolean;

  constructor(owner: Client, { hasKeys = true } = {}) {
    super(owner, owner.url);
    this.#owner = owner;
    this.#hasKeys = hasKeys;
  }

  override async send(by: Client, endpoint: Endpoint, path: string, form: Params, file: Sent["file"]): Promise<Answer> {
    if (endpoint.method === "GET") return super.send(by, endpoint, path, form, file);
    if (endpoint.operationId === "deactivate-realm") {
      await this.#repeatAll();
      return super.send(by, endpoint, path, form, file);
    }
    const id = endpoint.operationId;
    const key = `${id} ${JSON.stringify(form)}`.slice(0, 80).replaceAll(/[^ -~]/g, "?");
    const headers: Record<string, string> = this.#hasKeys ? { "Idempotency-Key": key } : {};
    const first = await super.send(by, endpoint, path, form, file, headers);
    const changes = await this.#owner.watchChanges();
    const second = await super.send(by, endpoint, path, form, file, headers);
    this.repeated.add(id);
    const again = async () => {
      const late = await super.send(by, endpoint, path, form, file, headers);
      if (JSON.stringify(outcome(late)) !== JSON.stringify(outcome(first))) this.otherwise.add(id);
    };
    // This one reads: its answer has the newest message.
    const isRead = id === "service-outgoing-webhook";
    if (by === this.#owner && !isRead && !answeredAnew.includes(id)) this.#again.push(again);
    if (JSON.stringify(outcome(first)) !== JSON.stringify(outcome(second))) this.otherwise.add(id);
    const events = (await changes()) as Event[];
    if (events.some(({ type }) => !volatile.has(type))) this.changing.add(id);
    return second.status < 400 ? second : first;
  }

  /** Once more when later requests have changed or removed what the first ones made. */
  async #repeatAll(): Promise<void> {
    const changes = await this.#owner.watchChanges();
    for (const again of this.#again) await again();
    const events = (await changes()) as Event[];
    for (const { type, op } of events) if (!volatile.has(type)) this.changing.add(`late: ${type} ${op}`);
  }
}

t.test("[D25] a repeat of each operation under its key gets the first answer, and changes nothing", async (t) => {
  const clock = new ManualClock(Date.UTC(2026, 5, 1, 12));
  const server = await startTestServer(t, { clock });
  const bare = new Repeater(server.owner, { hasKeys: false });
  await bare.call("send-message", { type: "channel", to: "general", topic: "t", content: "x" });
  t.strictSame([[...bare.otherwise], [...bare.changing]], [["send-message"], ["send-message"]], "without a key");
  const repeater = new Repeater(server.owner);
  await playAll(server, repeater);
  t.ok(repeater.repeated.size > 100, `${repeater.repeated.size} operations`);
  t.strictSame([...repeater.otherwise].sort(), answeredAnew);
  t.strictSame([...repeater.changing], []);
});
