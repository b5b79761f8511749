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

/** For operations that change nothing when they are executed twice: parameters with which one undoes the first. */
const contraries: Readonly<Record<string, Params>> = {
  "mute-topic": { op: "remove" },
  "update-bot": { full_name: "Other bot" },
  "update-channel-folder": { name: "Other" },
  "update-message": { content: "Other" },
  "update-message-flags": { op: "remove" },
  "update-notification-settings": { enable_sounds: true },
  "update-realm": { description: "Other" },
  "update-realm-user-settings-defaults": { twenty_four_hour_time: false },
  "update-stream": { description: "Other" },
  "update-user": { role: 400 },
  "update-user-by-email": { full_name: "Other" },
  "update-user-group": { description: "Other" },
  "update-user-topic": { visibility_policy: 0 },
};

class Repeater extends Recorder {
  /** Operations whose repeat was answered otherwise, or changed something. */
  readonly otherwise = new Set<string>();
  readonly changing = new Set<string>();
  /** Operations that were undone before a repeat. */
  readonly undone = new Set<string>();
  late = 0;
  readonly repeated = new Set<string>();
  readonly #again: (() => Promise<unknown>)[] = [];
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
    const again = async () => {
      const answer = await super.send(by, endpoint, path, form, file, headers);
      if (JSON.stringify(outcome(answer)) !== JSON.stringify(outcome(first))) this.otherwise.add(id);
      return answer;
    };
    const changes = await this.#changes();
    const second = await again();
    if ((await changes()).length > 0) this.changing.add(id);
    this.repeated.add(id);
    // This one reads: its answer has the newest message.
    const isRead = id === "service-outgoing-webhook";
    if (by === this.#owner && !isRead && !answeredAnew.includes(id)) this.#again.push(again);
    const contrary = contraries[id];
    if (contrary !== undefined) {
      const undoing = await this.#changes();
      await super.send(by, endpoint, path, { ...form, ...contrary }, file);
      if ((await undoing()).length > 0) this.undone.add(id);
      const changes = await this.#changes();
      await again();
      if ((await changes()).length > 0) this.changing.add(`${id} again`);
    }
    return second.status < 400 ? second : first;
  }

  /** Records what the owner hears, except what is volatile. */
  async #changes(): Promise<() => Promise<readonly Event[]>> {
    const events = await this.#owner.watchChanges();
    return async () => ((await events()) as Event[]).filter(({ type }) => !volatile.has(type));
  }

  /** Once more when later requests have changed or removed what the first ones made. */
  async #repeatAll(): Promise<void> {
    const changes = await this.#changes();
    for (const again of this.#again) await again();
    for (const { type, op } of await changes()) this.changing.add(`late: ${type} ${op}`);
    this.late = this.#again.length;
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
  t.ok(repeater.late > 100, `${repeater.late} requests once more at the end`);
  t.strictSame([...repeater.undone].sort(), Object.keys(contraries));
  t.strictSame([...repeater.otherwise].sort(), answeredAnew);
  t.strictSame([...repeater.changing], []);
});
