/** Says new messages of the visible list to programs that read the page aloud. */
import { useEffect, useRef, useState } from "preact/hooks";
import { htmlOf, plainTextOf } from "../content.ts";
import { matcherFor } from "../state/narrow.ts";
import { messages, mutedPeople, myId, place, reader } from "../store.ts";

const spokenMax = 300;
/** Messages of a burst that are said; older ones of it are only shown. */
const linesMax = 5;

interface Line {
  readonly id: number;
  readonly text: string;
}

export function LiveRegion() {
  const [lines, setLines] = useState<readonly Line[]>([]);
  const newest = messages.value.recent.at(-1)?.id ?? 0;
  /** A message is said once, also if those after it are deleted. */
  const seen = useRef(newest);
  useEffect(() => {
    const now = place.peek();
    const fresh = messages.peek().recent.filter(({ id }) => id > seen.current);
    seen.current = Math.max(seen.current, newest);
    if (now.kind !== "narrow") return;
    const matches = matcherFor(now.terms, reader.peek());
    const said = fresh
      .filter(({ sender_id: id }) => id !== myId.peek() && !mutedPeople.peek().has(id))
      .filter((message) => matches?.(message) === true)
      .map((message) => {
        const start = message.is_me_message ? message.sender_full_name : `${message.sender_full_name}:`;
        return { id: message.id, text: `${start} ${plainTextOf(htmlOf(message)).slice(0, spokenMax)}` };
      });
    if (said.length > 0) setLines((before) => [...before, ...said].slice(-linesMax));
  }, [newest]);
  return (
    <div class="sr-only" role="log" aria-live="polite" aria-label="New messages">
      {lines.map(({ id, text }) => (
        <p key={id}>{text}</p>
      ))}
    </div>
  );
}
