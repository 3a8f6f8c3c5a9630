-- Notes a start by name under its challenger's account, if there is room for it.
--
-- KEYS  1 the account's record  2 hash of its starts that wait
-- ARGV  1 id of the command, in hex  2 most against one other  3 most in all
--       4... ids of the others, in hex
-- Returns  '' (noted now or before) | 'gone' (the account does not exist) | 'all' | an ARGV 4...;
--          of the last three each has written nothing
--
-- A value is the time in ms and the others' ids, with ':' between them. Both keys are in one slot:
-- two starts at once are counted one after the other.

if redis.call('EXISTS', KEYS[1]) == 0 then
  return 'gone'
end
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then
  return ''
end
if redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[3]) then
  return 'all'
end
local values = redis.call('HVALS', KEYS[2])
for place = 4, #ARGV do
  local count = 0
  for _, value in ipairs(values) do
    if string.find(value, ':' .. ARGV[place], 1, true) then
      count = count + 1
    end
  end
  if count >= tonumber(ARGV[2]) then
    return ARGV[place]
  end
end
local value = time_ms('')
for place = 4, #ARGV do
  value = value .. ':' .. ARGV[place]
end
redis.call('HSET', KEYS[2], ARGV[1], value)
return ''
