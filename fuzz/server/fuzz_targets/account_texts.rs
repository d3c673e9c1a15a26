#![no_main]

quant_server_fuzz::target!(account_texts);
