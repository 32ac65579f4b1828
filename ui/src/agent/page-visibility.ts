/**
 * Whether the page is visible to its user. A hidden page requests nothing: the agent has few places for long
 * replies, and a browser has six connections to one server for all its tabs.
 */
import { signal } from '@preact/signals';

export const isVisible = signal(document.visibilityState === 'visible');

document.addEventListener('visibilitychange', () => {
  isVisible.value = document.visibilityState === 'visible';
});
