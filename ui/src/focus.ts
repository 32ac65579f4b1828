/**
 * The place of the keyboard and of a screen reader. When the focused element is removed, such as a link
 * that is replaced by what it has opened, the browser starts again at the top of the page. Instead, the
 * focus goes to the heading of the closest part that is left.
 */
export function keepFocus(): void {
  // The focused element and its ancestors, which it no longer knows once it is removed.
  let path: readonly Element[] = [];
  addEventListener('focusin', ({ target }) => {
    path = target instanceof Element ? ancestors(target) : [];
  });
  // A click beside everything takes the focus away from an element that stays.
  addEventListener('focusout', ({ target }) => {
    setTimeout(() => {
      if (path[0] === target && path[0]?.isConnected) path = [];
    });
  });
  new MutationObserver(() => {
    if (path[0] === undefined || path[0].isConnected) return;
    const left = path.filter((element) => element.isConnected);
    path = [];
    // Another part has taken the focus itself.
    if (document.activeElement !== document.body) return;
    for (const part of left) {
      const heading = part.querySelector<HTMLElement>('h1, h2, h3');
      if (!heading) continue;
      heading.tabIndex = -1;
      heading.focus({ preventScroll: true });
      return;
    }
  }).observe(document.body, { childList: true, subtree: true });
}

function ancestors(element: Element): Element[] {
  const path = [];
  for (let at: Element | null = element; at; at = at.parentElement) path.push(at);
  return path;
}
