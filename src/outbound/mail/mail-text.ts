/** The plain text of what mail-html.ts lets pass: lists with markers, quotes with `>`, URLs after link texts. */
import { type DefaultTreeAdapterTypes, defaultTreeAdapter as tree } from "parse5";

type Child = DefaultTreeAdapterTypes.ChildNode;
type Element = DefaultTreeAdapterTypes.Element;
type Parent = DefaultTreeAdapterTypes.ParentNode;

const blocks: ReadonlySet<string> = new Set(
  "p div pre hr blockquote ul ol li h1 h2 h3 h4 h5 h6 table thead tbody tr".split(" "),
);

/** An empty line separates blocks, but not list items or table rows. */
export function mailText(parent: Parent): string {
  return blockText(parent, "\n\n");
}

function blockText(parent: Parent, between: string): string {
  const parts: string[] = [];
  let line = "";
  const endLine = () => {
    const text = line.replaceAll(/ *\n */g, "\n").trim();
    if (text !== "") parts.push(text);
    line = "";
  };
  for (const child of parent.childNodes) {
    if (tree.isElementNode(child) && blocks.has(child.tagName)) {
      endLine();
      const text = textOfBlock(child, parent);
      if (text !== "") parts.push(text);
    } else line += inlineText(child);
  }
  endLine();
  return parts.join(between);
}

function textOfBlock(element: Element, parent: Parent): string {
  switch (element.tagName) {
    case "hr":
      return "----------";
    case "pre":
      return rawText(element).replace(/\n+$/, "");
    case "blockquote":
      return indented(blockText(element, "\n\n"), "> ", "> ");
    case "li": {
      const mark = markOf(element, parent);
      return indented(blockText(element, "\n"), mark, " ".repeat(mark.length));
    }
    // An empty cell keeps its place, so that the cells of a column stay below each other.
    case "tr":
      return element.childNodes
        .filter((cell) => tree.isElementNode(cell))
        .map((cell) => inlineText(cell).trim())
        .join(" | ")
        .trim();
    default:
      return blockText(element, /^(?:ul|ol|table|thead|tbody)$/.test(element.tagName) ? "\n" : "\n\n");
  }
}

function markOf(item: Element, list: Parent): string {
  if (!("tagName" in list) || list.tagName !== "ol") return "* ";
  const first = Number(list.attrs.find(({ name }) => name === "start")?.value ?? 1);
  const items = list.childNodes.filter((child) => child.nodeName === "li");
  return `${first + items.indexOf(item)}. `;
}

function indented(text: string, first: string, others: string): string {
  return text
    .split("\n")
    .map((line, index) => `${index === 0 ? first : others}${line}`.trimEnd())
    .join("\n");
}

function inlineText(node: Child): string {
  if (tree.isTextNode(node)) return node.value.replaceAll(/\s+/g, " ");
  if (!tree.isElementNode(node)) return "";
  if (node.tagName === "br") return "\n";
  const text = node.childNodes.map(inlineText).join("");
  if (node.tagName !== "a") return text;
  const href = node.attrs.find(({ name }) => name === "href")?.value ?? "";
  return text === href || `mailto:${text}` === href || href === `${text}/` ? text : `${text} <${href}>`;
}

function rawText(node: Child | Parent): string {
  if ("value" in node) return node.value;
  return "childNodes" in node ? node.childNodes.map(rawText).join("") : "";
}
