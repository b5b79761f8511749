/** The open organizations with the most messages, and how large they are. */
import { realmName } from "./dead-letters.tsx";
import { shown, type Unit } from "./format.ts";
import { metric, organizations } from "./live.ts";

const columns: readonly { readonly label: string; readonly name: string; readonly unit: Unit }[] = [
  { label: "Messages", name: "colloquy_realm_messages", unit: "count" },
  { label: "Accounts", name: "colloquy_realm_users", unit: "count" },
  { label: "Store", name: "colloquy_realm_store_bytes", unit: "bytes" },
  { label: "Files", name: "colloquy_realm_file_bytes", unit: "bytes" },
  { label: "Queues", name: "colloquy_realm_event_queues", unit: "count" },
  { label: "Dead letters", name: "colloquy_realm_dead_letters", unit: "count" },
];

export function Organizations() {
  const metrics = organizations.value ?? {};
  const [all, open] = [metric("colloquy_realms", "all"), metric("colloquy_realms", "open")];
  const labels = Object.keys(metrics["colloquy_realm_messages"] ?? {});
  return (
    <section class="group" aria-labelledby="organizations">
      <h2 id="organizations">Organizations</h2>
      <p class="quiet">
        {shown(all, "count")} in all, {shown(open, "count")} open.
        {all === open ? "" : " Closed ones use no memory, and are not read."}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section class="table-box" aria-label="Sizes of organizations" tabIndex={0}>
        <table class="table numbers">
          <thead>
            <tr>
              <th scope="col">Label</th>
              {columns.map(({ label }) => (
                <th scope="col" key={label}>
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {labels.map((label) => (
              <tr key={label}>
                <th scope="row">{realmName(label)}</th>
                {columns.map(({ name, unit }) => (
                  <td key={name}>{shown(metrics[name]?.[label], unit)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}
