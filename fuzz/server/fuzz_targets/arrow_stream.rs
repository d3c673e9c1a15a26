#![no_main]

quant_server_fuzz::target!(arrow_stream);
