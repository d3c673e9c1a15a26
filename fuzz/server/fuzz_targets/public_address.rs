#![no_main]

quant_server_fuzz::target!(public_address);
