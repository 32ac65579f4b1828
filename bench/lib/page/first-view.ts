import type { Browser } from 'playwright-core';

export interface FirstView {
  /** Milliseconds from the request of the page until the text is shown. */
  readonly ms: number;
  /** Received until then, as on the wire. */
  readonly bytes: number;
}

/**
 * Opens a page with an empty cache.
 * @param slowdown of the CPU of the browser
 */
export async function firstView(
  browser: Browser,
  url: string,
  text: string,
  slowdown: number,
): Promise<FirstView> {
  const context = await browser.newContext();
  const page = await context.newPage();
  try {
    const devTools = await context.newCDPSession(page);
    await devTools.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
    await devTools.send('Network.enable');
    let bytes = 0;
    devTools.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    const start = performance.now();
    await page.goto(url, { waitUntil: 'commit' });
    await page.getByText(text).first().waitFor();
    return { ms: performance.now() - start, bytes };
  } finally {
    await context.close();
  }
}
