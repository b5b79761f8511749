/** The AsyncAPI 3.0 document of the WebSocket, generated from the declarations of its frames and of the events. */
import { Type } from "typebox";
import { closeCodes } from "../../schemas/close-codes.ts";
import { type ErrorCode, errorCodes } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { programVersion } from "../../schemas/server.ts";
import { type ClientFrameType, clientFrames, FrameReference } from "../../schemas/socket-frames.ts";
import { errorSchema } from "./errors.ts";
import { nameEvents } from "./events.ts";
import type { FrameExamples } from "./examples.ts";
import { type JsonSchema, objectOf, SchemaBook } from "./json-schema.ts";
import { capitalized, pascalCase, withoutReferences } from "./words.ts";

const description = `The WebSocket of Colloquy, which pushes every event and executes the operations of the REST API.

**Logging in.** With an \`Authorization\` header on the upgrade; or, for browsers, without one and with \`authenticate\` as the first
frame, within ${limits.socket_authentication_ms_max / 1000} seconds.

**Frames** are JSON objects in text frames; with the subprotocol \`msgpack\`, MessagePack in binary frames. A client may put a \`ref\` into a
frame, and the reply repeats it. A frame that cannot be understood gets an error as its reply, and the connection stays open. A frame over
${limits.ws_frame_bytes_max} bytes closes it. Frames count against the same request limits as REST.

**Events** follow after \`register\` or \`resume\`. The ids of a queue increase, with gaps. After a lost connection, \`resume\` with the last
id that was processed returns every later event in order; \`BAD_EVENT_QUEUE_ID\` says that this is not possible, and the client registers
again. Clients should accept fields and types of events that they do not know.

**Heartbeat.** The server sends a ping of the WebSocket protocol after ${limits.socket_heartbeat_s} seconds of silence.`;

const closeCodeTable = [
  "The server closes with these codes:",
  "",
  "| code | reason |",
  "|---|---|",
  ...Object.values(closeCodes)
    .toSorted((a, b) => a.code - b.code)
    .map(({ code, reason }) => `| ${code} | ${reason} |`),
  "",
  "Without a code (1006) the connection was lost: reconnect and resume.",
].join("\n");

const channel = { $ref: "#/channels/events" };
const reference = (message: string) => ({ $ref: `#/channels/events/messages/${message}` });

interface Message {
  readonly name: string;
  readonly summary: string;
  readonly payload: JsonSchema;
  readonly hasReference: boolean;
}

class AsyncApiWriter {
  readonly #book = new SchemaBook();
  readonly #events = nameEvents(this.#book);
  readonly #examples: FrameExamples;

  constructor(examples: FrameExamples) {
    this.#examples = examples;
  }

  document() {
    const messages = [...this.#fromClients(), ...this.#fromServer()];
    return {
      asyncapi: "3.0.0",
      info: {
        title: "Colloquy",
        version: programVersion,
        description,
        license: { name: "Apache 2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
      },
      defaultContentType: "application/json",
      servers: {
        colloquy: {
          host: "{host}",
          protocol: "wss",
          description: "The server that this document comes from; `ws` without TLS.",
          variables: { host: { description: "Its name and port.", default: "localhost" } },
          security: [{ $ref: "#/components/securitySchemes/apiKey" }],
        },
      },
      channels: {
        events: {
          address: "/api/v1/events/ws",
          title: "Events",
          description: closeCodeTable,
          messages: Object.fromEntries(messages.map(({ name }) => [name, { $ref: `#/components/messages/${name}` }])),
          bindings: { ws: { method: "GET", bindingVersion: "0.1.0" } },
          "x-close-codes": Object.values(closeCodes),
        },
      },
      operations: this.#operations(),
      components: {
        securitySchemes: {
          apiKey: {
            type: "http",
            scheme: "basic",
            description: "The email address of the account as user name, its API key as password.",
          },
        },
        correlationIds: { ref: { location: "$message.payload#/ref", description: "The client's name for its frame." } },
        messages: Object.fromEntries(
          messages.map((message) => [message.name, messageObject(message, this.#examples[message.name])]),
        ),
        schemas: this.#book.components,
      },
    };
  }

  #operations() {
    const fromClients = Object.entries(clientFrames).map(([type, { summary, reply }]) => {
      const answers = type === "ping" ? ["pong"] : [...(reply === null ? [] : [`${type}Reply`]), "rejection"];
      return [
        type,
        {
          action: "receive",
          channel,
          summary: withoutReferences(summary),
          messages: [reference(type)],
          reply: { channel, messages: answers.map(reference) },
        },
      ] as const;
    });
    const sendEvents = {
      action: "send",
      channel,
      summary: "Sends events of the queue, one or several that are ready together.",
      messages: [reference("event"), reference("events")],
    };
    return { ...Object.fromEntries(fromClients), sendEvents };
  }

  #fromClients(): Message[] {
    return Object.entries(clientFrames).map(([type, { summary, fields }]) => {
      const declared = Type.Object({ type: Type.Literal(type), ref: FrameReference, ...fields });
      const payload = this.#book.component(`${capitalized(type)}Frame`, () =>
        optionalDefaults(this.#book.of(declared)),
      );
      return { name: type, summary: withoutReferences(summary), payload, hasReference: true };
    });
  }

  #fromServer(): Message[] {
    const frames = Object.entries(clientFrames) as [ClientFrameType, { readonly reply: object | null }][];
    const replies = frames.flatMap(([type, { reply }]) => (reply === null ? [] : [this.#reply(type, reply)]));
    const event = this.#book.component("Event", () => ({ anyOf: this.#events }));
    const frame = (type: string, fields: Readonly<Record<string, JsonSchema>>) =>
      objectOf({ type: { type: "string", const: type }, ...fields }, ["type", ...Object.keys(fields)]);
    const pong = objectOf({ type: { type: "string", const: "pong" }, ref: this.#book.of(FrameReference) }, ["type"]);
    return [
      ...replies,
      this.#rejection(),
      { name: "pong", summary: "The reply to a ping.", payload: pong, hasReference: true },
      { name: "event", summary: "One event.", payload: frame("event", { event }), hasReference: false },
      {
        name: "events",
        summary: "Several events that were ready together.",
        payload: frame("events", { events: { type: "array", items: event, minItems: 1 } }),
        hasReference: false,
      },
    ];
  }

  #reply(type: ClientFrameType, fields: object): Message {
    const declared = Type.Object({
      type: Type.Literal("reply"),
      ref: FrameReference,
      result: Type.Literal("success"),
      msg: Type.Literal(""),
      ignored_parameters_unsupported: Type.Optional(Type.Array(Type.String())),
      ...fields,
    });
    const payload = this.#book.component(`${capitalized(type)}Reply`, () => this.#book.of(declared));
    return { name: `${type}Reply`, summary: `The reply to \`${type}\`.`, payload, hasReference: true };
  }

  /** A rejection has the fields of an error of the REST API. */
  #rejection(): Message {
    const codes = Object.keys(errorCodes) as ErrorCode[];
    const frame = objectOf({ type: { type: "string", const: "reply" }, ref: this.#book.of(FrameReference) }, ["type"]);
    const error = this.#book.component("Error", () => ({ anyOf: codes.map((code) => errorSchema(this.#book, code)) }));
    const payload = this.#book.component("Rejection", () => ({ allOf: [frame, error] }));
    return { name: "rejection", summary: "The reply to a frame that was rejected.", payload, hasReference: true };
  }
}

/** A parameter with a default may be absent. */
function optionalDefaults(schema: JsonSchema): JsonSchema {
  const { properties = {}, required = [] } = schema as {
    readonly properties?: Readonly<Record<string, JsonSchema>>;
    readonly required?: readonly string[];
  };
  return { ...schema, required: required.filter((name) => properties[name]?.["default"] === undefined) };
}

function messageObject(
  { name, summary, payload, hasReference }: Message,
  example: FrameExamples[string] | undefined,
): JsonSchema {
  return {
    name,
    title: pascalCase(name),
    summary,
    ...(hasReference ? { correlationId: { $ref: "#/components/correlationIds/ref" } } : {}),
    payload,
    ...(example === undefined ? {} : { examples: [{ payload: example }] }),
  };
}

export type AsyncApiDocument = ReturnType<AsyncApiWriter["document"]>;

/** @param examples none where only the schemas are needed */
export function asyncApiDocument(examples: FrameExamples = {}): AsyncApiDocument {
  return new AsyncApiWriter(examples).document();
}
