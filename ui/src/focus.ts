/**
 * The place of the keyboard and of a screen reader. When the focused element is removed, such as a link
 * that is replaced by what it has opened, the browser starts again at the top of the page. Instead, the
 * focus goes to the heading of the closest part that is left. An element that is moved keeps the focus.
 */
export function keepFocus(): void {
  // The focused element and its ancestors, which it no longer knows once it is removed.
  let path: readonly Element[] = [];
  addEventListener('focusin', ({ target }) => {
    path = target instanceof Element ? ancestors(target) : [];
  });
  // A click beside everything takes the focus away from an element that stays; another window does not.
  addEventListener('focusout', ({ target }) => {
    setTimeout(() => {
      const [focused] = path;
      if (focused === target && focused?.isConnected && document.activeElement !== focused)
        path = [];
    });
  });
  new MutationObserver(() => {
    const [focused] = path;
    // Still there, or another part has taken the focus itself.
    if (!focused || document.activeElement !== document.body) return;
    const left = path.filter((element) => element.isConnected);
    path = [];
    // It was moved.
    if (left.includes(focused) && focus(focused)) return;
    for (const part of left) {
      const heading = part.querySelector('h1, h2, h3');
      if (!heading) continue;
      heading.setAttribute('tabindex', '-1');
      if (focus(heading)) return;
    }
  }).observe(document.body, { childList: true, subtree: true });
}

/** @returns false if the element cannot have the focus: it is hidden */
function focus(element: Element): boolean {
  if (element instanceof HTMLElement) element.focus({ preventScroll: true });
  return document.activeElement === element;
}

function ancestors(element: Element): Element[] {
  const path = [];
  for (let at: Element | null = element; at; at = at.parentElement) path.push(at);
  return path;
}
