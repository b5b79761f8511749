/** A page with one message for a user who opened a link. No scripts, no external assets, everything escaped (Eta). */
import { Eta } from "eta";
import type { HttpReply } from "../runtime/calls.ts";
import { htmlPage } from "./pages.ts";

const eta = new Eta();

const render = eta.compile(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title><%= it.title %></title></head>
<body style="font-family:sans-serif;max-width:40em;margin:4em auto;padding:0 1em">
<h1><%= it.title %></h1>
<p><%= it.text %></p>
</body>
</html>
`);

export function messagePage(status: number, said: { readonly title: string; readonly text: string }): HttpReply {
  return htmlPage(status, render.call(eta, said));
}
