/** Linkifiers that an older version stored and whose patterns the engine now rejects (D222). */
import t from "tap";
import { reportLinkifiers } from "../../src/linkifier-check.ts";

t.test("[D222] a stored linkifier whose pattern is now rejected is named in the log, the others are not", (t) => {
  const urlTemplate = "https://a.example/{id}";
  const warnings: string[] = [];
  reportLinkifiers(
    [
      { id: 1, pattern: "#(?P<id>[0-9]+)", urlTemplate, order: 1 },
      { id: 2, pattern: "(?=x)(?P<id>[0-9]+)", urlTemplate, order: 2 },
    ],
    (line) => warnings.push(line),
  );
  t.equal(warnings.length, 1);
  t.match(warnings[0], /Linkifier 2 matches nothing.*"\(\?=x\)/);
  t.end();
});
