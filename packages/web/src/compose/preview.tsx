/** The text of the box as the server renders it. */
import { useEffect, useState } from "preact/hooks";
import { client, explain } from "../api.ts";
import { htmlOf } from "../content.ts";
import { myId, nameOf } from "../store.ts";
import { Html, Problem } from "../views/parts.tsx";

/** Whether the text says what its sender does (`/me waves`), by the server's rule. */
function saysWhatSenderDoes(text: string, html: string): boolean {
  return text.startsWith("/me ") && /^<p>[^\n]*<\/p>$/.test(html);
}

export function Preview({ text }: { readonly text: string }) {
  const [html, setHtml] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let isCurrent = true;
    client.call("POST /messages/render", { content: text }, { retryMs: 0 }).then(
      ({ rendered }) => isCurrent && setHtml(rendered),
      (error) => isCurrent && setProblem(explain(error)),
    );
    return () => {
      isCurrent = false;
    };
  }, [text]);
  if (problem !== null) return <Problem text={problem} />;
  if (html === null) {
    return (
      <div class="preview">
        <p class="waiting">Rendering</p>
      </div>
    );
  }
  const isStatus = saysWhatSenderDoes(text, html);
  return (
    <div class={`preview ${isStatus ? "message-content status" : ""}`}>
      {isStatus ? <span class="sender">{nameOf(myId.value)}</span> : null}
      <Html html={htmlOf({ content: html, is_me_message: isStatus })} />
    </div>
  );
}
