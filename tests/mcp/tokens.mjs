// The tokens of what a model reads of the MCP endpoint, by the encoding o200k_base.
//
//   node tokens.mjs http://127.0.0.1:8080 API_KEY    prints a table
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";

const [base, key] = process.argv.slice(2);

async function send(method, params, query = "") {
  const answer = await fetch(`${base}/mcp${query}`, {
    method: "POST",
    headers: {
      accept: "application/json, text/event-stream", "content-type": "application/json",
      "mcp-protocol-version": "2025-11-25", "x-api-key": key,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const content = await answer.json();
  if (!content.result || content.result.isError) throw new Error(JSON.stringify(content));
  return content.result;
}

/** What a host shows its model of a tool: name, description and the schema of the arguments. */
const forModel = ({ name, description, inputSchema }) => ({ name, description, inputSchema });
const tokens = (value) => countTokens(typeof value === "string" ? value : JSON.stringify(value));
const texts = (result) => result.content.map((part) => part.text).join("\n");
const call = async (name, args) => texts(await send("tools/call", { name, arguments: args }));

const rows = [["text", "tools", "tokens"]];
for (const [name, query] of [["core", ""], ["all", "?toolsets=all"]]) {
  const { tools } = await send("tools/list", {}, query);
  rows.push([`tools/list of ${name}: name, description, arguments`, tools.length, tokens(tools.map(forModel))]);
  rows.push([`tools/list of ${name}: the whole answer`, tools.length, tokens(tools)]);
}
const { tools } = await send("tools/list", {});
const search = tools.find(({ name }) => name === "search_tools");
rows.push(["search_tools: name, description, arguments", 1, tokens(forModel(search))]);
rows.push(["search_tools, an empty question", "", tokens(await call("search_tools", {}))]);
const question = "What is a call option worth?";
rows.push([`search_tools, "${question}"`, "", tokens(await call("search_tools", { query: question }))]);
rows.push(["describe_tool of price_european_option", "", tokens(await call("describe_tool", { name: "price_european_option" }))]);
for (const [index, row] of rows.entries()) {
  console.log(`| ${row.join(" | ")} |`);
  if (index === 0) console.log("|---|---|---|");
}
