/** Custom profile fields of the organization: add, change, order, remove. */
import { useState } from "preact/hooks";
import { client } from "../api.ts";
import { choiceData, choicesOf, fieldTypeNames, fieldTypes } from "../state/profile-field-kinds.ts";
import { chat } from "../store.ts";
import { EntryForm, KindSelect } from "./forms.tsx";
import { OrderedList } from "./ordered-list.tsx";

type Field = NonNullable<NonNullable<typeof chat.value>["custom_profile_fields"]>[number];
type Data = Readonly<Record<never, never>>;

/** What the type needs besides the name; undefined: nothing. */
function dataOf(type: number, form: FormData, before?: Field): Data | undefined {
  if (type === fieldTypes.list) return choiceData(String(form.get("choices")), choicesOf(before?.field_data ?? ""));
  if (type !== fieldTypes.account) return undefined;
  const subtype = String(form.get("subtype"));
  return subtype === "custom" ? { subtype, url_pattern: String(form.get("url_pattern")) } : { subtype };
}

function ListFields({ field }: { readonly field?: Field }) {
  return (
    <label>
      Choices
      <textarea
        name="choices"
        rows={4}
        required
        defaultValue={choicesOf(field?.field_data ?? "")
          .map(([, text]) => text)
          .join("\n")}
      />
      <span class="quiet">One on each line. If you remove a choice, people who chose it have no value any more.</span>
    </label>
  );
}

function AccountFields() {
  const [subtype, setSubtype] = useState("github");
  const known = Object.entries(chat.value?.realm_default_external_accounts ?? {});
  return (
    <>
      <label>
        Where
        <select name="subtype" value={subtype} onChange={(event) => setSubtype(event.currentTarget.value)}>
          {known.map(([name, { text }]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
          <option value="custom">Somewhere else</option>
        </select>
      </label>
      {subtype === "custom" ? (
        <label>
          Address
          <input name="url_pattern" required placeholder="https://example.com/people/%(username)s" />
          <span class="quiet">%(username)s stands for the name there</span>
        </label>
      ) : null}
    </>
  );
}

function NewField() {
  const [type, setType] = useState<number>(fieldTypes.short);
  const create = async (form: FormData) => {
    const data = dataOf(type, form);
    await client.call("POST /realm/profile_fields", {
      field_type: type,
      name: String(form.get("name")),
      hint: String(form.get("hint")),
      ...(data === undefined ? {} : { field_data: data }),
    });
    setType((now) => (now === type ? fieldTypes.short : now));
  };
  return (
    <EntryForm title="Add a field" action="Add" failure="The field was not added" submit={create}>
      <KindSelect label="Type" name="type" kinds={fieldTypeNames} value={type} onChange={setType} />
      <label>
        Name
        <input name="name" required={type !== fieldTypes.account} maxLength={40} />
      </label>
      <label>
        Hint
        <input name="hint" maxLength={80} />
      </label>
      {type === fieldTypes.list ? <ListFields /> : null}
      {type === fieldTypes.account ? <AccountFields /> : null}
    </EntryForm>
  );
}

function ChangedField({ field, onDone }: { readonly field: Field; readonly onDone: () => void }) {
  const save = async (form: FormData) => {
    const data = field.type === fieldTypes.list ? dataOf(field.type, form, field) : undefined;
    await client.call("PATCH /realm/profile_fields/{field_id}", {
      field_id: field.id,
      name: String(form.get("name")),
      hint: String(form.get("hint")),
      required: form.get("required") !== null,
      editable_by_user: form.get("editable") !== null,
      ...(data === undefined ? {} : { field_data: data }),
    });
    onDone();
  };
  return (
    <EntryForm title={`Change ${field.name}`} action="Save" failure="The field was not changed" submit={save}>
      <label>
        Name
        <input name="name" required maxLength={40} defaultValue={field.name} />
      </label>
      <label>
        Hint
        <input name="hint" maxLength={80} defaultValue={field.hint} />
      </label>
      {field.type === fieldTypes.list ? <ListFields field={field} /> : null}
      <label class="check">
        <input name="required" type="checkbox" defaultChecked={field.required} /> Everybody is asked for it
      </label>
      <label class="check">
        <input name="editable" type="checkbox" defaultChecked={field.editable_by_user} /> People change their own
      </label>
    </EntryForm>
  );
}

export function ProfileFieldPanel() {
  const fields = chat.value?.custom_profile_fields ?? [];
  const typeNames = new Map(fieldTypeNames);
  return (
    <>
      <h2>Profile fields</h2>
      <p class="quiet">People fill in these fields on their profiles, besides their names.</p>
      <OrderedList
        entries={fields}
        nameOf={({ name }) => name}
        show={({ name, type }) => (
          <>
            {name}
            <span class="quiet">{typeNames.get(type)}</span>
          </>
        )}
        form={(field, onDone) => <ChangedField field={field} onDone={onDone} />}
        reorder={(order) => client.call("PATCH /realm/profile_fields", { order })}
        removal={({ id, name }) => ({
          title: `Remove ${name}?`,
          text: "What people wrote in it is removed, too.",
          failure: "The field was not removed",
          done: "The field is removed.",
          run: () => client.call("DELETE /realm/profile_fields/{field_id}", { field_id: id }),
        })}
      />
      <NewField />
    </>
  );
}
