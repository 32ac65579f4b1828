/** Memory of the page while it receives the events of an hour, on the virtual time of the browser. */

import { once } from 'node:events';
import { createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, CDPSession } from 'playwright-core';
import { startShop } from '#test/ui/support/shop.ts';

const MINUTES = 60;
const EVENTS_PER_SECOND = 100;

/** @returns one line about it */
export async function memoryOfHour(browser: Browser): Promise<string> {
  const shop = await startShop();
  const streams = new Set<ServerResponse>();
  // In front of the agent, whose own events are of real time.
  const server = createServer((incoming, response) => {
    if (incoming.url?.startsWith('/controller/events')) {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write(`event: connected\ndata: {"Time":"${new Date().toISOString()}"}\n\n`);
      streams.add(response);
      response.on('close', () => streams.delete(response));
      return;
    }
    const { url = '/', method, headers } = incoming;
    const forwarded = request({ port: shop.agent.port, path: url, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    incoming.pipe(forwarded);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.clock.install();
    const devTools = await context.newCDPSession(page);
    await page.goto(`http://127.0.0.1:${port}/ui/#/events`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    const events = new EventTexts();
    const heaps: number[] = [];
    for (let minute = 0; minute < MINUTES; minute++) {
      for (let second = 0; second < 60; second++) {
        const text = events.next(EVENTS_PER_SECOND);
        for (const stream of streams) if (!stream.write(text)) await once(stream, 'drain');
        await page.clock.runFor(1_000);
      }
      heaps.push(await heapOf(devTools));
    }
    const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
    const [first = 0, tenth = 0, last = 0] = [heaps[0], heaps[9], heaps.at(-1)];
    const shown = await page.locator('main').innerText();
    const isShown = shown.includes(String(events.last));
    return (
      `memory of the page with ${EVENTS_PER_SECOND} events a second: ${mb(first)} after a minute, ${mb(tenth)} ` +
      `after ten, ${mb(last)} after an hour; ratio ${(last / first).toFixed(2)}` +
      `${isShown ? '' : '; THE LAST EVENT IS NOT SHOWN'}`
    );
  } finally {
    await context.close();
    server.closeAllConnections();
    server.close();
    await shop.stop();
  }
}

async function heapOf(devTools: CDPSession): Promise<number> {
  await devTools.send('HeapProfiler.collectGarbage');
  return (await devTools.send('Runtime.getHeapUsage')).usedSize;
}

/** Events such as an agent sends them. */
class EventTexts {
  last = 0;

  next(count: number): string {
    return Array.from({ length: count }, () => this.#one()).join('');
  }

  #one(): string {
    this.last++;
    const time = new Date(Date.now()).toISOString();
    const handler = (Handler: string) => ({
      Handler,
      Revert: false,
      Change: `change ${this.last} of ${Handler}`,
      Error: null,
      ErrorStr: '',
      TookMs: 0.25,
    });
    const event = {
      SeqNum: this.last,
      ProcessingStart: time,
      ProcessingEnd: time,
      IsFollowUp: false,
      FollowUpTo: 0,
      Name: 'Kubernetes State Change',
      Description: `Kubernetes State Change ${this.last}\n* Pod default/pod-${this.last}`,
      Method: 3,
      Handlers: ['podmanager', 'ipv4net', 'service', 'policy'].map(handler),
      TxnError: null,
      TxnErrorStr: '',
      Txn: null,
      Trace: {
        Origin: {
          Key: `/vnf-agent/contiv-ksr/k8s/pod/pod-${this.last}/namespace/default`,
          Revision: '7',
          Heard: time,
        },
        QueuedMs: 1,
        TotalMs: 5,
        CommitMs: 2,
        Transaction: {
          SeqNum: this.last,
          ReadingMs: 0,
          PlanningMs: 1,
          ExecutionMs: 1,
          Operations: 3,
        },
      },
    };
    return `id: 1-${this.last}\nevent: processed\ndata: ${JSON.stringify(event)}\n\n`;
  }
}
