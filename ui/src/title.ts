/** Title of the browser's window: what is shown, the view, the node, and the program. */
import { effect, signal } from '@preact/signals';

const parts = { subject: signal(''), view: signal(''), node: signal('') };

/** @param part of the title; empty: it has none */
export function setTitle(part: keyof typeof parts, text: string): void {
  parts[part].value = text;
}

effect(() => {
  const { subject, view, node } = parts;
  const words = [subject.value, view.value, node.value, 'contiv-vswitch'];
  document.title = words.filter((word) => word !== '').join(' – ');
});
