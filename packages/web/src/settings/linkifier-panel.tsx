/** Linkifiers: patterns that become links in messages. Each can be tried before it is saved; all together afterwards. */
import { useRef, useState } from "preact/hooks";
import { client, explain } from "../api.ts";
import { isForInputMethod } from "../input-methods.ts";
import { chat } from "../store.ts";
import { Icon } from "../views/icon.tsx";
import { Html, Problem } from "../views/parts.tsx";
import { EntryForm } from "./forms.tsx";
import { OrderedList } from "./ordered-list.tsx";

type Linkifier = NonNullable<NonNullable<typeof chat.value>["realm_linkifiers"]>[number];

function valuesOf(data: FormData) {
  return { pattern: String(data.get("pattern")), url_template: String(data.get("url_template")) };
}

type Found = Awaited<ReturnType<typeof client.call<"POST /realm/linkifiers/preview">>>["links"];

/** What the server would make of a text with the fields as they are now. */
function Preview() {
  const [links, setLinks] = useState<Found | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const asked = useRef(0);
  const look = async () => {
    const form = box.current?.closest("form");
    if (form == null) return;
    const data = new FormData(form);
    const text = String(data.get("text"));
    const number = ++asked.current;
    try {
      const answer = await client.call("POST /realm/linkifiers/preview", { ...valuesOf(data), text }, { retryMs: 0 });
      if (number !== asked.current) return;
      setLinks(answer.links);
      setProblem(null);
    } catch (error) {
      if (number !== asked.current) return;
      setLinks(null);
      setProblem(`It cannot be tried: ${explain(error)}`);
    }
  };
  return (
    <div ref={box}>
      <div class="line-form">
        <label>
          Text to try it with
          <input
            name="text"
            maxLength={1_000}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || isForInputMethod(event)) return;
              event.preventDefault();
              look().catch(() => undefined);
            }}
          />
        </label>
        <button type="button" onClick={look}>
          Try
        </button>
      </div>
      <Problem text={problem} />
      {links === null ? null : (
        <ul class="trial" role="status" aria-label="Links">
          {links.length === 0 ? <li class="quiet">Nothing in the text fits.</li> : null}
          {links.map(({ text, url }, at) => (
            <li key={`${at} ${url}`}>
              <code>{text}</code> <Icon name="right" size={12} /> {url}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Fields({ linkifier }: { readonly linkifier?: Linkifier }) {
  return (
    <>
      <label>
        Pattern
        <input
          name="pattern"
          required
          defaultValue={linkifier?.pattern ?? ""}
          placeholder="#(?P<id>[0-9]+)"
          spellcheck={false}
        />
        <span class="quiet">A regular expression in the syntax of RE2, with groups that have names</span>
      </label>
      <label>
        Address
        <input
          name="url_template"
          required
          defaultValue={linkifier?.url_template ?? ""}
          placeholder="https://example.com/issues/{id}"
          spellcheck={false}
        />
        <span class="quiet">Names of groups in braces</span>
      </label>
      <Preview />
    </>
  );
}

/** The server renders: nothing else knows all of its rules. */
function Trial() {
  const [html, setHtml] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const run = async (event: Event) => {
    event.preventDefault();
    const content = String(new FormData(event.currentTarget as HTMLFormElement).get("text"));
    setProblem(null);
    try {
      setHtml((await client.call("POST /messages/render", { content })).rendered);
    } catch (error) {
      setProblem(`It was not rendered: ${explain(error)}`);
    }
  };
  return (
    <form class="fields" aria-label="Try the linkifiers" onSubmit={run}>
      <h3>Try all of them</h3>
      <div class="line-form">
        <label>
          Text
          <input name="text" required maxLength={500} />
        </label>
        <button type="submit">Try</button>
      </div>
      <Problem text={problem} />
      {html === null ? null : (
        <div class="trial" role="status">
          <Html html={html} />
        </div>
      )}
    </form>
  );
}

export function LinkifierPanel() {
  const linkifiers = chat.value?.realm_linkifiers ?? [];
  return (
    <>
      <h2>Linkifiers</h2>
      <p class="quiet">Text that fits a pattern becomes a link, in new messages. The first pattern that fits counts.</p>
      <OrderedList
        entries={linkifiers}
        nameOf={({ pattern }) => pattern}
        show={({ pattern, url_template: template }) => (
          <>
            <code>{pattern}</code>
            <span class="quiet">{template}</span>
          </>
        )}
        form={(one, onDone) => (
          <EntryForm
            title={`Change ${one.pattern}`}
            action="Save"
            failure="The linkifier was not changed"
            submit={async (data) => {
              await client.call("PATCH /realm/filters/{filter_id}", { filter_id: one.id, ...valuesOf(data) });
              onDone();
            }}
          >
            <Fields linkifier={one} />
          </EntryForm>
        )}
        reorder={(ids) => client.call("PATCH /realm/linkifiers", { ordered_linkifier_ids: ids })}
        removal={({ id, pattern }) => ({
          title: "Remove this linkifier?",
          text: `Text that fits ${pattern} will not become a link any more. Existing messages keep their links.`,
          failure: "The linkifier was not removed",
          done: "The linkifier is removed.",
          run: () => client.call("DELETE /realm/filters/{filter_id}", { filter_id: id }),
        })}
      />
      {linkifiers.length === 0 ? null : <Trial />}
      <EntryForm
        title="Add a linkifier"
        action="Add"
        failure="The linkifier was not added"
        submit={(data) => client.call("POST /realm/filters", valuesOf(data))}
      >
        <Fields />
      </EntryForm>
    </>
  );
}
