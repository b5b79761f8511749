/** A list of messages that Back or Forward opens: it is where the person left it. */
import type { Signal } from "@preact/signals";
import { useLayoutEffect, useState } from "preact/hooks";
import { type MessagePosition, readPositionBy, resumedPosition } from "../positions.ts";
import type { Scroller } from "./scroller.ts";

/**
 * @param near the message of the address
 * @returns where the list was left; null if it is opened by a link
 */
export function useResumed(
  near: number | null,
  scroller: { readonly current: Scroller | null },
  cursor: Signal<number | null>,
): MessagePosition | null {
  const [resumed] = useState(() => {
    const position = resumedPosition();
    return position?.kind === "message" ? { position, near } : null;
  });
  useLayoutEffect(
    () =>
      readPositionBy(() => {
        const position = scroller.current?.position ?? null;
        if (position === null) return null;
        return { kind: "message", id: Number(position.id), offset: position.offset, selected: cursor.peek() };
      }),
    [],
  );
  // A link may lead to another message of the place later.
  return resumed?.near === near ? resumed.position : null;
}
