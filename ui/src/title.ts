/** Title of the browser's window: what is shown, the view, the node, the cluster, and the program. */
import { effect, signal } from '@preact/signals';

const parts = { subject: signal(''), view: signal(''), node: signal(''), cluster: signal('') };

/** @param part of the title; empty: it has none */
export function setTitle(part: keyof typeof parts, text: string): void {
  parts[part].value = text;
}

effect(() => {
  const { subject, view, node, cluster } = parts;
  const words = [subject, view, node, cluster].map(({ value }) => value);
  document.title = [...words, 'contiv-vswitch'].filter((word) => word !== '').join(' – ');
});
