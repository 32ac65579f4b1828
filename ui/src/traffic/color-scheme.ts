/** Colors of the style sheet for a canvas, which does not know its variables. */
import { signal } from '@preact/signals';

const dark = matchMedia('(prefers-color-scheme: dark)');

/** Changes when the browser changes between light and dark: then a canvas has to be drawn again. */
export const colorScheme = signal(dark.matches ? 'dark' : 'light');

dark.addEventListener('change', () => {
  colorScheme.value = dark.matches ? 'dark' : 'light';
});

const known = new Map<string, string>();

/** @param variable such as `--line`; its value may depend on the scheme, so that only an element knows it */
export function currentColor(variable: string): string {
  const key = `${colorScheme.peek()} ${variable}`;
  let color = known.get(key);
  if (color === undefined) {
    const probe = document.createElement('span');
    probe.style.color = `var(${variable})`;
    document.body.append(probe);
    color = getComputedStyle(probe).color;
    probe.remove();
    known.set(key, color);
  }
  return color;
}
