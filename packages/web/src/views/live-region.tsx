/** Says new messages of the visible list to programs that read the page aloud. */
import { useEffect, useState } from "preact/hooks";
import { matcherFor } from "../state/narrow.ts";
import { messages, myId, place } from "../store.ts";

const spokenMax = 300;

function plain(html: string): string {
  return new DOMParser().parseFromString(html, "text/html").body.textContent?.trim().slice(0, spokenMax) ?? "";
}

export function LiveRegion() {
  const [text, setText] = useState("");
  const last = messages.value.recent.at(-1);
  useEffect(() => {
    const now = place.peek();
    if (last === undefined || last.sender_id === myId.peek() || now.kind !== "narrow") return;
    if (matcherFor(now.terms, myId.peek())?.(last) === true)
      setText(`${last.sender_full_name}: ${plain(last.content)}`);
  }, [last?.id]);
  return (
    <div class="sr-only" role="log" aria-live="polite" aria-label="New messages">
      {text}
    </div>
  );
}
