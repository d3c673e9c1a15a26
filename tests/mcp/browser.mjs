// Sign-in and consent in a real browser; started by ./browser.
import assert from 'node:assert/strict';
import { spawn, execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const { MODULES, SERVER, DATA, SHOTS } = process.env;
const { chromium } = createRequire(MODULES)('playwright-core');
const PASSWORD = 'correct horse battery staple';

const account = (name) => {
  const args = ['account', 'create', '--data-dir', DATA, '--email', `${name}@example.com`,
    '--username', name, '--password-stdin'];
  const out = execFileSync(SERVER, args, { input: PASSWORD, encoding: 'utf8' });
  return out.match(/^API key: (\S+)$/m)[1];
};

const start = async () => {
  const service = spawn(SERVER, ['serve', '--bind', '127.0.0.1:0', '--data-dir', DATA],
    { stdio: ['ignore', 'pipe', 'inherit'] });
  process.on('exit', () => service.kill('SIGTERM'));
  for await (const line of createInterface({ input: service.stdout })) {
    const found = line.match(/^listening on (\S+)$/);
    if (found) return { service, base: found[1] };
  }
  throw new Error('the service did not start');
};

// Returns the code of the latest e-mail, which is sent a moment after the request.
const codeFromLetter = async (before) => {
  for (;;) {
    const folder = `${DATA}/mail`;
    const emails = readdirSync(folder).filter((name) => !before.has(name) && name.endsWith('.eml'));
    for (const name of emails) {
      const code = readFileSync(`${folder}/${name}`, 'utf8').match(/^\s*(\d{6})\s*$/m);
      if (code) return code[1];
    }
    await new Promise((next) => setTimeout(next, 50));
  }
};
const emailsSoFar = () => {
  try { return new Set(readdirSync(`${DATA}/mail`)); } catch { return new Set(); }
};

const { service, base } = await start();
const answers = [];
const callback = createServer((request, response) => {
    // The browser also requests an icon.
  if (request.url.startsWith('/callback')) answers.push(new URL(request.url, 'http://127.0.0.1'));
  response.setHeader('content-type', 'text/html').end('<!DOCTYPE html><title>Back</title>Back');
});
await new Promise((listening) => callback.listen(0, '127.0.0.1', listening));
const redirect = `http://127.0.0.1:${callback.address().port}/callback`;
const verifier = randomBytes(32).toString('base64url');

const form = (path, fields) =>
  fetch(base + path, { method: 'POST', body: new URLSearchParams(fields) });

let browser;
try {
  account('ada');
  const key = account('grace');
  const mfa = await fetch(`${base}/user/mfa/enable`, { method: 'POST', headers: { 'X-API-Key': key } });
  assert.equal(mfa.status, 200);
  const registration = await fetch(`${base}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Desktop host', redirect_uris: ['http://127.0.0.1/callback'] }),
  });
  const client = (await registration.json()).client_id;
  const question = `${base}/oauth/authorize?` + new URLSearchParams({
    response_type: 'code', client_id: client, redirect_uri: redirect, state: 'state', scope: 'mcp',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256', resource: `${base}/mcp`,
  });

  browser = await chromium.launch({ executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox'] });
  const faults = [];
  const open = async (width, height, colorScheme = 'light') => {
    const context = await browser.newContext({ javaScriptEnabled: false, colorScheme,
      viewport: { width, height } });
    const page = await context.newPage();
    page.on('console', (said) => /Content Security|Refused/.test(said.text()) && faults.push(said.text()));
    page.setDefaultTimeout(20_000);
    return { context, page };
  };
  const shot = async (page, name) =>
    SHOTS && page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true });
  const signIn = async (page, name, password) => {
    await page.getByLabel('E-mail address').fill(`${name}@example.com`);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };
  const back = async (page) => {
    await page.waitForURL(`${redirect}*`);
    return answers.at(-1).searchParams;
  };

  for (const [width, height, colors] of [[1280, 800, 'light'], [390, 844, 'light'], [390, 844, 'dark']]) {
    const size = `${width}-${colors}`;
    const { context, page } = await open(width, height, colors);

    await page.goto(question);
    await shot(page, `sign-in-${size}`);
    await signIn(page, 'ada', 'a wrong password');
    await page.getByRole('alert').filter({ hasText: 'password is wrong' }).waitFor();
    await shot(page, `wrong-password-${size}`);
    await signIn(page, 'ada', PASSWORD);
    await page.getByRole('heading', { name: 'Allow Desktop host to use your account?' }).waitFor();
    await shot(page, `consent-${size}`);
    const body = page.locator('body');
    const overflow = await body.evaluate((body) => body.scrollWidth - body.clientWidth);
    assert.equal(overflow, 0, 'nothing is wider than the screen');

    await page.getByRole('button', { name: 'Deny' }).click();
    assert.equal((await back(page)).get('error'), 'access_denied');

    await page.goto(question);
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    const answer = await back(page);
    assert.deepEqual([answer.get('state'), answer.get('iss')], ['state', base]);
    const tokens = await form('/oauth/token', { grant_type: 'authorization_code', client_id: client,
      code: answer.get('code'), redirect_uri: redirect, code_verifier: verifier });
    assert.equal(tokens.status, 200);

    await page.goto(`${base}/account/applications`);
    await shot(page, `applications-${size}`);
    await page.getByRole('button', { name: 'Disconnect' }).first().click();
    await page.getByText('No application has access').waitFor();
    const refreshed = await form('/oauth/token', { grant_type: 'refresh_token', client_id: client,
      refresh_token: (await tokens.json()).refresh_token });
    assert.equal(refreshed.status, 400);

    await page.goto(question);
    await context.clearCookies();
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.getByRole('heading', { name: 'This form has expired' }).waitFor();
    await shot(page, `expired-${size}`);
    await page.goto(question.replace(client, 'unknown'));
    await page.getByRole('heading', { name: 'cannot be connected' }).waitFor();
    await shot(page, `unknown-${size}`);
    await context.close();
  }

  const { page } = await open(390, 844);
  await page.goto(question);
  const before = emailsSoFar();
  await signIn(page, 'grace', PASSWORD);
  const field = page.getByLabel('Code of six digits');
  await field.waitFor();
  for (const [width, height] of [[1280, 800], [390, 844]]) {
    await page.setViewportSize({ width, height });
    await shot(page, `second-step-${width}`);
  }
  const code = await codeFromLetter(before);
  await field.fill(code === '000000' ? '000001' : '000000');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('alert').filter({ hasText: 'code is wrong' }).waitFor();
  await field.fill(code);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  assert.ok((await back(page)).get('code'));

  assert.deepEqual(faults, [], 'the policy held nothing back');
  console.log('sign-in, wrong password, second factor, consent, denial, expired form, disconnect: ok');
} finally {
  await browser?.close();
  callback.close();
  service.kill('SIGTERM');
}
