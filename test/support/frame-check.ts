/** Compares every frame that the server sends to a test's socket with the AsyncAPI document. */
import { successFault } from "./answer-check.ts";
import type { Check } from "./document-check.ts";
import { faultsOf, socketCheck, socketSchemas } from "./wire-events.ts";

type Fields = Readonly<Record<string, unknown>>;

const checks = new Map<string, Check>();

function check(component: string, value: unknown): string | null {
  let known = checks.get(component);
  if (known === undefined) {
    known = socketCheck.compile(socketSchemas[component] ?? {});
    checks.set(component, known);
  }
  return known(value);
}

/** The components of replies, by type of frame. */
function replyOf(type: string): string {
  return `${type.slice(0, 1).toUpperCase()}${type.slice(1)}Reply`;
}

function replyFault({ type: _, ref, ...body }: Fields, request: Fields | undefined): string | null {
  if (ref !== undefined && typeof ref !== "string") return "a ref that is no text";
  if (body["result"] === "error") return check("Error", body);
  // Without a ref the client cannot know which frame was answered.
  if (request === undefined) return null;
  const { type, method, path } = request;
  if (type !== "call")
    return check(replyOf(String(type)), { type: "reply", ...(ref === undefined ? {} : { ref }), ...body });
  const below = String(path).replace(/^\/api\/v1(?=\/)/, "");
  return successFault(String(method).toUpperCase(), below, body);
}

/**
 * @param request the frame of the client with the same ref
 * @throws Error when the frame differs from the document
 */
export function checkFrame(frame: Fields, request: Fields | undefined): void {
  const fault = frameFault(frame, request);
  if (fault !== null) throw new Error(`the AsyncAPI document does not say this: ${fault}: ${JSON.stringify(frame)}`);
}

function frameFault(frame: Fields, request: Fields | undefined): string | null {
  const { type, event, events, ...rest } = frame;
  switch (type) {
    case "event":
      return Object.keys(rest).length > 0 ? "more than an event" : (faultsOf([event])[0] ?? null);
    case "events":
      return Object.keys(rest).length > 0 ? "more than events" : (faultsOf(events as readonly unknown[])[0] ?? null);
    case "pong":
      return Object.keys(rest).every((name) => name === "ref") ? null : "more than a ref";
    case "reply":
      return replyFault(frame, request);
    default:
      return `a frame of the type ${String(type)}`;
  }
}
