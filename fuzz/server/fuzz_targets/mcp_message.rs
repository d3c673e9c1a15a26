#![no_main]

quant_server_fuzz::target!(mcp_message);
