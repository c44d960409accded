autocmd BufNewFile,BufRead *.tdl setfiletype tdl
